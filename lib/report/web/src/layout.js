import { heightOf } from './tree.js';

/**
 * Where the boxes of a flame graph go.
 *
 * @typedef {object} Layout boxes as parallel arrays, in drawing order
 * @property {number[]} node -1 for a run of neighbours too narrow to draw one by one
 * @property {number[]} x px
 * @property {number[]} w px
 * @property {number[]} row 0 is the top of the view
 * @property {number[]} from first node of a run
 * @property {number[]} to node behind its last one: a run is all that it stands for, callees too
 * @property {number} rows that are drawn
 * @property {number} cut deepest row there would be, less those drawn
 */

export const MAX_ROWS = 48;
const NARROW = 1; // px: below this a box joins its neighbours, and its callees are not laid out
const SHOWN = 2; // px: the graph ends at the last row with a box this wide
const STRETCH = 24; // px: or with a run this wide, which is no hairline but most of the profile

/**
 * @param {import('./tree.js').Tree} tree @param {Float64Array} total
 * @param {number} top node that gets the whole width @param {number} width px
 * @returns {Layout}
 */
export function layout(tree, total, top, width) {
  /** @type {Layout} */
  const out = { node: [], x: [], w: [], row: [], from: [], to: [], rows: 0, cut: 0 };
  if (!(total[top] > 0)) return out;
  const scale = width / total[top];
  const base = tree.depth[top];
  const next = new Float64Array(MAX_ROWS + 1); // per row: where its next box begins
  const last = new Int32Array(MAX_ROWS).fill(-1); // per row: its last box
  for (let i = top; i < tree.end[top]; ) {
    const row = tree.depth[i] - base;
    if (row >= MAX_ROWS) {
      i = tree.end[i];
      continue;
    }
    const x = next[row];
    const w = total[i] * scale;
    next[row] = x + w;
    if (w < NARROW) {
      if (w > 0) run(out, last, row, x, w, i, tree.end[i]);
      i = tree.end[i];
      continue;
    }
    last[row] = push(out, i, x, w, row, i, i + 1);
    if (w >= SHOWN) out.rows = Math.max(out.rows, row + 1);
    next[row + 1] = x;
    i++;
  }
  out.cut = Math.max(0, heightOf(tree, total, top) + 1 - out.rows);
  return out;
}

/**
 * @param {Layout} out @param {number} node @param {number} x @param {number} w @param {number} row
 * @param {number} from @param {number} to
 */
function push(out, node, x, w, row, from, to) {
  out.x.push(x);
  out.w.push(w);
  out.row.push(row);
  out.from.push(from);
  out.to.push(to);
  return out.node.push(node) - 1;
}

/**
 * Adds to the run that ends at x, or begins one.
 * @param {Layout} out @param {Int32Array} last @param {number} row @param {number} x @param {number} w
 * @param {number} from @param {number} to
 */
function run(out, last, row, x, w, from, to) {
  const b = last[row];
  if (b >= 0 && out.node[b] < 0 && Math.abs(out.x[b] + out.w[b] - x) < 1e-6) {
    out.w[b] += w;
    out.to[b] = to;
  } else {
    last[row] = push(out, -1, x, w, row, from, to);
  }
  if (out.w[last[row]] >= STRETCH) out.rows = Math.max(out.rows, row + 1);
}

/** The nodes above `node`, the root first. @param {import('./tree.js').Tree} tree @param {number} node */
export function ancestors(tree, node) {
  const list = [];
  while (node !== 0) {
    node = tree.parent[node];
    list.push(node);
  }
  return list.reverse();
}
