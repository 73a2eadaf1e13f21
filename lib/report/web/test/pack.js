import { deflateSync } from 'node:zlib';

/**
 * A data block as pack.go writes it, from the integers of its columns.
 * @param {Record<string, unknown>} header
 * @param {Record<string, { code: 'plain' | 'delta' | 'constant', values: number[] }>} columns
 */
export function pack(header, columns) {
  const list = [];
  /** @type {number[]} */
  const body = [];
  for (const [name, { code, values }] of Object.entries(columns)) {
    const coded = values.map((v, i) => {
      const d = code === 'delta' ? v - (i ? values[i - 1] : 0) : v;
      return code === 'delta' ? (d < 0 ? -2 * d - 1 : 2 * d) : d;
    });
    if (code === 'constant') {
      list.push({ name, count: values.length, code, planes: 0, value: values[0] });
      continue;
    }
    const most = coded.reduce((a, v) => Math.max(a, v), 0);
    let planes = 0;
    while (256 ** planes <= most) planes++;
    for (let p = 0; p < planes; p++) for (const v of coded) body.push(Math.floor(v / 256 ** p) % 256);
    list.push({ name, count: values.length, code, planes, value: 0 });
  }
  const text = new TextEncoder().encode(JSON.stringify({ ...header, columns: list }));
  const bytes = new Uint8Array(4 + text.length + body.length);
  new DataView(bytes.buffer).setUint32(0, text.length, true);
  bytes.set(text, 4);
  bytes.set(body, 4 + text.length);
  return { bytes, base64: deflateSync(bytes).toString('base64') };
}

/**
 * A small profile:
 *
 *     main [app]     1000 A
 *       work [app]   1001 A, at 10 and 30
 *         work [app] 1002 B: recursion
 *       write [libc]
 *         sys [k]    1003 A
 *           vfs [k]  1004 B
 *     work [libc]    1005 B: the same name in another module
 */
export function smallProfile() {
  const functions = ['', 'main', 'work', 'write', 'sys', 'vfs', 'work'];
  const header = {
    tickNS: 1000,
    spanTicks: 60,
    ncpu: 2,
    functions,
    modules: ['', '/bin/app', '/lib/libc.so', '[kernel]'],
    shortNames: ['unknown', 'app', 'libc.so', '[kernel]'],
    threads: [
      { tid: 1, pid: 1, name: 'A', cpu: null },
      { tid: 2, pid: 1, name: 'B', cpu: null },
    ],
    events: [
      {
        name: 'cycles',
        unit: 'cycles',
        kind: 'cpu',
        samples: 7,
        timed: 7,
        total: 0,
        cpu: null,
        part: false,
      },
    ],
    rss: [],
    metrics: [],
  };
  const weights = [1000, 1001, 1001, 1002, 1003, 1004, 1005];
  header.events[0].total = weights.reduce((a, v) => a + v, 0);
  const plain = (/** @type {number[]} */ values) => ({ code: /** @type {const} */ ('plain'), values });
  const delta = (/** @type {number[]} */ values) => ({ code: /** @type {const} */ ('delta'), values });
  return pack(header, {
    'node.depth': delta([0, 1, 2, 3, 2, 3, 4, 1]),
    'node.function': plain([0, 1, 2, 2, 3, 4, 5, 6]),
    'function.module': plain([0, 1, 1, 2, 3, 3, 2]),
    'function.kind': plain([0, 0, 0, 0, 1, 1, 0]),
    'leaf.node': plain([1, 2, 3, 5, 6, 7]),
    'event0.time': delta([0, 10, 30, 40, 50, 60, 60]),
    'event0.thread': plain([0, 0, 0, 1, 0, 1, 1]),
    'event0.leaf': plain([0, 1, 1, 2, 3, 4, 5]),
    'event0.weight': plain(weights),
  });
}
