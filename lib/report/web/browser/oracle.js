/**
 * What the page should show, computed from the records without any of its code.
 *
 * @typedef {{ symbol: string, module: string, kind: string }} Frame
 * @typedef {{ tid: number, time: number, weight: number, frames: Frame[] }} Sample root first
 */

/** @param {string} text records @param {number} event */
export function samplesOf(text, event = 1) {
  /** @type {Map<number, Frame>} */
  const frames = new Map();
  /** @type {Map<number, Frame[]>} */
  const stacks = new Map();
  /** @type {Sample[]} */
  const samples = [];
  for (const line of text.split('\n')) {
    const r = line && JSON.parse(line);
    if (r?.type === 'frame')
      frames.set(r.id, { symbol: r.symbol ?? '', module: r.module ?? '', kind: r.kind });
    if (r?.type === 'stack') {
      const above = r.parent ? (stacks.get(r.parent) ?? []) : [];
      stacks.set(r.id, [...above, /** @type {Frame} */ (frames.get(r.frame))]);
    }
    if (r?.type === 'sample' && r.event === event) {
      samples.push({ tid: r.tid, time: r.time_ns, weight: r.weight, frames: stacks.get(r.stack) ?? [] });
    }
  }
  return samples;
}

/** @param {Frame} f */
export function nameOf(f) {
  const base = f.module.split('/').pop();
  return f.symbol || (base ? `[${base}]` : '[unknown]');
}

/**
 * Self and inclusive percentages, one decimal, per function and module.
 * @param {Sample[]} samples
 */
export function hotspots(samples) {
  /** @type {Map<string, { name: string, self: number, total: number }>} */
  const byKey = new Map();
  let all = 0;
  const get = (/** @type {Frame} */ f) => {
    const key = JSON.stringify(f);
    const row = byKey.get(key) ?? { name: nameOf(f), self: 0, total: 0 };
    byKey.set(key, row);
    return row;
  };
  for (const { weight, frames } of samples) {
    all += weight;
    get(frames[frames.length - 1]).self += weight;
    for (const row of new Set(frames.map(get))) row.total += weight;
  }
  const pct = (/** @type {number} */ v) => ((100 * v) / all).toFixed(1);
  return [...byKey.values()].map((r) => [r.name, pct(r.self), pct(r.total)].join(' | ')).sort();
}

/** Share of the samples with a frame that matches. @param {Sample[]} samples @param {(name: string) => boolean} match */
export function matchedShare(samples, match) {
  const sum = (/** @type {Sample[]} */ list) => list.reduce((a, s) => a + s.weight, 0);
  return ((100 * sum(samples.filter((s) => s.frames.some((f) => match(nameOf(f)))))) / sum(samples)).toFixed(
    1,
  );
}
