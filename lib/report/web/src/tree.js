/**
 * Stacks as a trie in depth-first order: the subtree of node i is i .. end[i]-1, node 0 is
 * the root. Sums over it are single passes over arrays, without recursion: stacks may be
 * thousands of frames deep.
 *
 * @typedef {object} Tree
 * @property {Uint32Array} fn
 * @property {Uint32Array} depth
 * @property {Uint32Array} parent of the root: itself
 * @property {Uint32Array} end
 */

/** @param {Uint32Array} depth @param {Uint32Array} fn @returns {Tree} */
export function makeTree(depth, fn) {
  const n = depth.length;
  const parent = new Uint32Array(n);
  const end = new Uint32Array(n);
  const path = new Uint32Array(n + 1);
  let open = 0; // nodes on the path
  for (let i = 0; i < n; i++) {
    while (open > depth[i]) end[path[--open]] = i;
    parent[i] = open ? path[open - 1] : 0;
    path[open++] = i;
  }
  while (open > 0) end[path[--open]] = n;
  return { fn, depth, parent, end };
}

/** The function that stands for everything the kernel does below a call into it. */
export const BOUNDARY = '[kernel boundary]';

/**
 * The tree with kernel frames, and what is below them, as one leaf per calling frame.
 * @param {Tree} full @param {Uint32Array} fnKind @param {number} boundary its function
 * @returns {{ tree: Tree, to: Uint32Array }} `to` maps nodes of the full tree to it
 */
export function foldKernel(full, fnKind, boundary) {
  const n = full.fn.length;
  const to = new Uint32Array(n);
  const fn = new Uint32Array(n);
  const depth = new Uint32Array(n);
  const leaf = new Int32Array(n).fill(-1); // of a node here: its boundary leaf
  let count = 1;
  for (let i = 1; i < n; i++) {
    const p = to[full.parent[i]];
    const inside = p && fn[p] === boundary;
    const kernel = !inside && fnKind[full.fn[i]] === 1;
    if (inside) {
      to[i] = p;
    } else if (kernel && leaf[p] >= 0) {
      to[i] = leaf[p];
    } else {
      to[i] = count;
      fn[count] = kernel ? boundary : full.fn[i];
      depth[count] = depth[p] + 1;
      if (kernel) leaf[p] = count;
      count++;
    }
  }
  return { tree: makeTree(depth.slice(0, count), fn.slice(0, count)), to };
}

/**
 * Adds every node's weight to its callers'. Children stand behind their parents.
 * @param {Tree} tree @param {Float64Array} weight self weights; becomes the totals
 */
export function addUp(tree, weight) {
  for (let i = weight.length - 1; i > 0; i--) weight[tree.parent[i]] += weight[i];
}

/**
 * Marks the nodes under which a key does not occur again further up, so that a sum over
 * them counts a recursive function once per stack.
 * @param {Tree} tree @param {(node: number) => number} key @param {number} keys how many there are
 */
export function outermost(tree, key, keys) {
  const n = tree.fn.length;
  const open = new Uint32Array(keys);
  const path = new Uint32Array(n + 1);
  const outer = new Uint8Array(n);
  let at = 0;
  for (let i = 1; i < n; i++) {
    while (at >= tree.depth[i]) open[path[at--]]--;
    const k = key(i);
    if (open[k]++ === 0) outer[i] = 1;
    path[++at] = k;
  }
  return outer;
}

/** @param {Tree} tree @param {Float64Array} total @param {number} i */
export function selfOf(tree, total, i) {
  let self = total[i];
  for (let c = i + 1; c < tree.end[i]; c = tree.end[c]) self -= total[c];
  return self;
}

/** Rows of frames that carry weight below node i. @param {Tree} tree @param {Float64Array} total @param {number} i */
export function heightOf(tree, total, i) {
  let deepest = tree.depth[i];
  for (let c = i + 1; c < tree.end[i]; c++) {
    if (total[c] > 0) deepest = Math.max(deepest, tree.depth[c]);
    else c = tree.end[c] - 1;
  }
  return deepest - tree.depth[i];
}

/**
 * What a search matches below `top`: the weight counts a match within a match once.
 * @param {Tree} tree @param {Float64Array} total @param {Uint8Array} hit per function @param {number} top
 */
export function matched(tree, total, hit, top) {
  let weight = 0;
  let frames = 0;
  let inside = 0; // end of the outermost match that i is in
  for (let i = top; i < tree.end[top]; i++) {
    if (!hit[tree.fn[i]] || !total[i]) continue;
    frames++;
    if (i >= inside) {
      weight += total[i];
      inside = tree.end[i];
    }
  }
  return { weight, frames };
}

/**
 * A predicate for a search: literal without regard to case, or /regex/flags.
 * @param {string} query @returns {((name: string) => boolean) | null} null for an empty query
 * @throws {SyntaxError} if the expression is none
 */
export function matcher(query) {
  const re = /^\/(.+)\/([a-z]*)$/.exec(query);
  if (re) {
    const pattern = new RegExp(re[1], re[2].replace(/[gy]/g, ''));
    return (name) => pattern.test(name);
  }
  if (!query) return null;
  const needle = query.toLowerCase();
  return (name) => name.toLowerCase().includes(needle);
}
