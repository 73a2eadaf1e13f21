import { addUp, BOUNDARY, foldKernel, makeTree, outermost } from './tree.js';

/**
 * @typedef {import('./tree.js').Tree} Tree
 * @typedef {import('./unpack.js').Profile} Profile
 *
 * @typedef {object} Scope what a view is about
 * @property {number} event
 * @property {number[] | null} threads null is all of them
 * @property {{ from: number, to: number } | null} range ticks, `to` not included; null is the whole run
 *
 * @typedef {'function' | 'module'} Grouping
 * @typedef {'boundary' | 'full'} TreeName
 *
 * @typedef {object} Question
 * @property {Scope} scope
 * @property {TreeName} [tree] wanted totals
 * @property {Grouping} [hot] wanted hotspots
 *
 * @typedef {object} Answer
 * @property {number} samples in scope
 * @property {number} weight in scope
 * @property {Float64Array | null} total per node of the tree asked for
 * @property {{ self: Float64Array, total: Float64Array } | null} hot per function or module
 * @property {Float64Array} threadWeight per thread in the range, whether in scope or not
 * @property {Float64Array} threadSamples
 *
 * @typedef {object} Curve weight over time
 * @property {Float64Array} weight per bucket; the buckets span the whole run
 * @property {number} sum
 */

/** First index whose time is not before t. @param {Uint32Array} time @param {number} t */
export function lowerBound(time, t) {
  let lo = 0;
  let hi = time.length;
  while (lo < hi) {
    const mid = (lo + hi) >>> 1;
    if (time[mid] < t) lo = mid + 1;
    else hi = mid;
  }
  return lo;
}

/** Folds the samples of a profile. It keeps what does not depend on the scope. */
export class Folder {
  /** @param {Profile} profile */
  constructor(profile) {
    this.profile = profile;
    this.full = makeTree(profile.depth, profile.fn);
    const boundary = profile.header.functions.length;
    const kind = new Uint32Array(boundary + 1);
    kind.set(profile.fnKind);
    kind[boundary] = 1;
    const folded = foldKernel(this.full, kind, boundary);
    this.boundary = folded.tree;
    this.leafFull = profile.leafNode;
    this.leafBoundary = profile.leafNode.map((n) => folded.to[n]);
    /** @type {Partial<Record<Grouping, { key: (node: number) => number, outer: Uint8Array, keys: number }>>} */
    this.groups = {};
    this.leafWeight = new Float64Array(profile.leafNode.length);
  }

  /** What the page's main thread needs to draw: everything but the samples. */
  get shape() {
    const { header, fnModule, fnKind, rss } = this.profile;
    const functions = [...header.functions, BOUNDARY];
    const n = functions.length;
    const modules = new Uint32Array(n);
    modules.set(fnModule);
    const kinds = new Uint32Array(n);
    kinds.set(fnKind);
    kinds[n - 1] = 1;
    return {
      header: { ...header, functions, columns: [] },
      fnModule: modules,
      fnKind: kinds,
      rss,
      trees: { full: this.full, boundary: this.boundary },
    };
  }

  /** @param {Grouping} by */
  grouping(by) {
    const known = this.groups[by];
    if (known) return known;
    const { fn, fnModule, header } = this.profile;
    const key =
      by === 'function' ? (/** @type {number} */ i) => fn[i] : (/** @type {number} */ i) => fnModule[fn[i]];
    const keys = by === 'function' ? header.functions.length : header.modules.length;
    const made = { key, keys, outer: outermost(this.full, key, keys) };
    this.groups[by] = made;
    return made;
  }

  /** The samples of a range are a slice: [from, to). @param {Scope} scope */
  slice({ event, range }) {
    const s = this.profile.events[event];
    if (!range) return [0, s.leaf.length];
    return [lowerBound(s.time, range.from), lowerBound(s.time, range.to)];
  }

  /** @param {number[] | null} threads */
  mask(threads) {
    const mask = new Uint8Array(this.profile.header.threads.length);
    if (threads) for (const t of threads) mask[t] = 1;
    else mask.fill(1);
    return mask;
  }

  /** @param {Question} q @returns {Answer} */
  ask({ scope, tree, hot }) {
    const s = this.profile.events[scope.event];
    const mask = this.mask(scope.threads);
    const [from, to] = this.slice(scope);
    const leafWeight = this.leafWeight.fill(0);
    const threadWeight = new Float64Array(mask.length);
    const threadSamples = new Float64Array(mask.length);
    let samples = 0;
    let weight = 0;
    for (let i = from; i < to; i++) {
      const t = s.thread[i];
      const w = s.weight[i];
      threadWeight[t] += w;
      threadSamples[t]++;
      if (!mask[t]) continue;
      samples++;
      weight += w;
      leafWeight[s.leaf[i]] += w;
    }
    return {
      samples,
      weight,
      total: tree ? this.totals(tree, leafWeight) : null,
      hot: hot ? this.hotspots(hot, leafWeight) : null,
      threadWeight,
      threadSamples,
    };
  }

  /** @param {TreeName} name @param {Float64Array} leafWeight */
  totals(name, leafWeight) {
    const tree = this[name];
    const leaf = name === 'full' ? this.leafFull : this.leafBoundary;
    const total = new Float64Array(tree.fn.length);
    for (let i = 0; i < leaf.length; i++) total[leaf[i]] += leafWeight[i];
    addUp(tree, total);
    return total;
  }

  /** @param {Grouping} by @param {Float64Array} leafWeight */
  hotspots(by, leafWeight) {
    const { key, keys, outer } = this.grouping(by);
    const sum = this.totals('full', leafWeight);
    const self = new Float64Array(keys);
    const total = new Float64Array(keys);
    const leaf = this.leafFull;
    for (let i = 0; i < leaf.length; i++) self[key(leaf[i])] += leafWeight[i];
    for (let i = 1; i < sum.length; i++) if (outer[i]) total[key(i)] += sum[i];
    return { self, total };
  }

  /**
   * Weight over the whole run, whatever the range.
   * @param {Scope} scope @param {number} buckets @returns {Curve}
   */
  curve({ event, threads }, buckets) {
    const s = this.profile.events[event];
    const mask = this.mask(threads);
    const weight = new Float64Array(buckets);
    const scale = buckets / (this.profile.header.spanTicks + 1);
    let sum = 0;
    for (let i = 0; i < s.time.length; i++) {
      if (!mask[s.thread[i]]) continue;
      weight[Math.floor(s.time[i] * scale)] += s.weight[i];
      sum += s.weight[i];
    }
    return { weight, sum };
  }
}
