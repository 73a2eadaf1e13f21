/**
 * Which threads a view is about.
 *
 * @typedef {import('./unpack.js').Thread} Thread
 * @typedef {{ value: string, name: string, label: string, threads: number[], weight: number, samples: number }} Entry
 */

/** @param {Thread} t */
export function threadName(t) {
  if (t.name) return t.name;
  return t.tid === null ? 'unknown thread' : `thread ${t.tid}`;
}

/**
 * One entry per thread, or per thread name, by falling weight, then name; those without
 * samples last.
 * @param {Thread[]} threads @param {ArrayLike<number>} weight @param {ArrayLike<number>} samples
 * @param {boolean} group
 * @returns {Entry[]}
 */
export function entries(threads, weight, samples, group) {
  /** @type {Map<string, Entry>} */
  const byValue = new Map();
  threads.forEach((t, i) => {
    const name = threadName(t);
    const value = group ? `g${name}` : `t${t.tid ?? ''}`;
    const e = byValue.get(value) ?? { value, name, label: name, threads: [], weight: 0, samples: 0 };
    e.threads.push(i);
    e.weight += weight[i];
    e.samples += samples[i];
    byValue.set(value, e);
  });
  const list = [...byValue.values()];
  for (const e of list) if (e.threads.length > 1) e.label = `${e.name} ×${e.threads.length}`;
  return list.sort(
    (a, b) =>
      Number(b.samples > 0) - Number(a.samples > 0) ||
      b.weight - a.weight ||
      (a.name < b.name ? -1 : a.name > b.name ? 1 : a.threads[0] - b.threads[0]),
  );
}

/**
 * CPU seconds of a set of threads: what was counted for them, if all of their samples are
 * there, else their share of what the event stands for; null where neither is known.
 * @param {Thread[]} all @param {number[] | null} chosen
 * @param {{ cpu: number | null, total: number, part: boolean }} event
 * @param {number} weight of the chosen threads
 */
export function cpuSeconds(all, chosen, event, weight) {
  if (!chosen) return event.cpu;
  let sum = 0;
  for (const i of chosen) {
    const cpu = event.part ? null : all[i].cpu;
    if (cpu === null) return event.cpu === null || !event.total ? null : (event.cpu * weight) / event.total;
    sum += cpu;
  }
  return sum;
}
