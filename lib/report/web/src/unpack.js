/**
 * The data block of the page: base64 of a zlib stream of columns. pack.go describes it.
 *
 * @typedef {{ name: string, count: number, code: 'plain' | 'delta' | 'constant', planes: number, value: number }} Column
 * @typedef {{ tid: number | null, pid: number | null, name: string, cpu: number | null }} Thread
 * @typedef {{ name: string, unit: string, kind: string, samples: number, timed: number, total: number,
 *   cpu: number | null, part: boolean }} EventInfo
 * @typedef {{ scope: string, label: string, value: string, unit: string, quality: string, why: string }} Metric
 * @typedef {object} Header
 * @property {number} tickNS unit of all times
 * @property {number} spanTicks length of the run
 * @property {number} ncpu 0 where unknown
 * @property {string[]} functions 0 is the root
 * @property {string[]} modules paths; 0 is unknown
 * @property {string[]} shortNames of the modules
 * @property {Thread[]} threads
 * @property {EventInfo[]} events
 * @property {{ pid: number, target: boolean }[]} rss
 * @property {Metric[]} metrics of threads and groups
 * @property {Column[]} columns
 *
 * @typedef {object} Samples those with a time first, in its order
 * @property {Uint32Array} time ticks; shorter than the others where samples have no time
 * @property {Uint32Array} thread
 * @property {Uint32Array} leaf index into leafNode
 * @property {Float64Array} weight
 *
 * @typedef {object} Profile
 * @property {Header} header
 * @property {Uint32Array} depth of each node, in depth-first order
 * @property {Uint32Array} fn function of each node
 * @property {Uint32Array} fnModule
 * @property {Uint32Array} fnKind 0 user, 1 kernel, 2 unknown
 * @property {Uint32Array} leafNode
 * @property {Samples[]} events
 * @property {{ time: Uint32Array, bytes: Float64Array }[]} rss
 */

/** @param {string} text */
export function fromBase64(text) {
  const raw = atob(text);
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return bytes;
}

/** @param {Uint8Array<ArrayBuffer>} bytes a zlib stream */
export async function inflate(bytes) {
  const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
  return new Uint8Array(await new Response(plain).arrayBuffer());
}

/**
 * Fills `out` with a column: planes of bytes, the lowest first.
 * @template {Uint32Array | Float64Array} T
 * @param {Uint8Array} bytes @param {number} at where the column begins
 * @param {Column} column @param {T} out
 * @returns {T}
 */
export function readColumn(bytes, at, column, out) {
  const n = column.count;
  if (column.code === 'constant') {
    out.fill(column.value);
    return out;
  }
  if (at + n * column.planes > bytes.length) throw new RangeError(`column ${column.name} is cut`);
  // Sums, not shifts: floating point is exact to 2^53 where shifts end at 2^32.
  for (let p = 0, scale = 1; p < column.planes; p++, scale *= 256) {
    for (let i = 0, from = at + p * n; i < n; i++) out[i] += bytes[from + i] * scale;
  }
  if (column.code === 'delta') {
    for (let i = 0, v = 0; i < n; i++) {
      const z = out[i];
      v += z % 2 ? -(z + 1) / 2 : z / 2;
      out[i] = v;
    }
  }
  return out;
}

/** @param {Uint8Array} bytes @returns {Profile} */
export function parse(bytes) {
  const size = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  /** @type {Header} */
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + size)));
  /** @type {Map<string, { at: number, column: Column }>} */
  const places = new Map();
  let at = 4 + size;
  for (const column of header.columns) {
    places.set(column.name, { at, column });
    at += column.count * column.planes;
  }
  /** @template {Uint32Array | Float64Array} T @param {string} name @param {new (n: number) => T} Kind */
  const column = (name, Kind) => {
    const p = places.get(name);
    if (!p) throw new TypeError(`the data block has no column ${name}`);
    return readColumn(bytes, p.at, p.column, new Kind(p.column.count));
  };
  return {
    header,
    depth: column('node.depth', Uint32Array),
    fn: column('node.function', Uint32Array),
    fnModule: column('function.module', Uint32Array),
    fnKind: column('function.kind', Uint32Array),
    leafNode: column('leaf.node', Uint32Array),
    events: header.events.map((_, i) => ({
      time: column(`event${i}.time`, Uint32Array),
      thread: column(`event${i}.thread`, Uint32Array),
      leaf: column(`event${i}.leaf`, Uint32Array),
      weight: column(`event${i}.weight`, Float64Array),
    })),
    rss: header.rss.map((_, i) => ({
      time: column(`rss${i}.time`, Uint32Array),
      bytes: column(`rss${i}.bytes`, Float64Array),
    })),
  };
}

/** @param {string} base64 */
export async function unpack(base64) {
  return parse(await inflate(fromBase64(base64)));
}
