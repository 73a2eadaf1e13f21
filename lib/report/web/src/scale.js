/**
 * Numbers behind the chart over the run.
 */

/**
 * Smooths by binomial weights, mirrored at the ends so that the sum stays the same: a
 * sample carries what its core did since the core's last sample, so single buckets jump.
 * @param {Float64Array} values @param {number} passes
 */
export function smooth(values, passes) {
  let from = Float64Array.from(values);
  const n = from.length;
  for (let p = 0; p < passes && n > 1; p++) {
    const to = new Float64Array(n);
    for (let i = 0; i < n; i++) {
      to[i] = from[i] / 2 + (from[Math.max(i - 1, 0)] + from[Math.min(i + 1, n - 1)]) / 4;
    }
    from = to;
  }
  return from;
}

/**
 * Scales values so that their mean is `mean` with none above `cap`: what the cap cuts off
 * is spread over the others.
 * @param {Float64Array} values @param {number} mean @param {number} cap
 */
export function scaleToMean(values, mean, cap) {
  const n = values.length;
  const peak = values.reduce((a, v) => Math.max(a, v), 0);
  if (!peak || !(mean > 0)) return new Float64Array(n);
  const meanAt = (/** @type {number} */ k) => values.reduce((a, v) => a + Math.min(cap, k * v), 0) / n;
  const busy = values.reduce((a, v) => a + (v > 0 ? 1 : 0), 0);
  let lo = 0;
  let hi = cap / peak;
  if ((cap * busy) / n <= mean) {
    hi = Number.POSITIVE_INFINITY; // every bucket with a sample is full
  } else {
    while (meanAt(hi) < mean) hi *= 2;
    for (let i = 0; i < 60; i++) {
      const mid = (lo + hi) / 2;
      if (meanAt(mid) < mean) lo = mid;
      else hi = mid;
    }
  }
  return values.map((v) => (v > 0 ? Math.min(cap, hi * v) : 0));
}

/** The round number at or above v that labels an axis; its half is round, too. @param {number} v */
export function roundUp(v) {
  if (!(v > 0)) return 1;
  const unit = 10 ** Math.floor(Math.log10(v));
  for (const m of [1, 2, 4, 6, 8]) if (m * unit >= v * (1 - 1e-9)) return m * unit;
  return 10 * unit;
}

/** Ticks of an axis from 0 to `span`, at most `most` of them. @param {number} span @param {number} most */
export function ticks(span, most) {
  if (!(span > 0)) return [];
  const raw = span / Math.max(1, most);
  const unit = 10 ** Math.floor(Math.log10(raw));
  const step = ([1, 2, 5, 10].find((m) => m * unit >= raw) ?? 10) * unit;
  const list = [];
  for (let i = 0; i * step <= span * (1 + 1e-9); i++) list.push(i * step);
  return list;
}

/**
 * How many buckets the chart gets: fine enough for its width, coarse enough for a few
 * samples each.
 * @param {number} width px @param {number} samples
 */
export function bucketCount(width, samples) {
  return Math.max(20, Math.min(Math.floor(width / 3), Math.floor(samples / 4), 480));
}

/**
 * Thins a series of readings to two a pixel column, the extremes, so that no peak is lost.
 * @param {Uint32Array} time @param {Float64Array} value @param {number} span @param {number} width
 * @returns {{ x: number, v: number }[]}
 */
export function extremes(time, value, span, width) {
  /** @type {{ x: number, v: number }[]} */
  const out = [];
  for (let i = 0; i < time.length; ) {
    const column = Math.floor((time[i] / span) * width);
    let lo = i;
    let hi = i;
    let j = i;
    for (; j < time.length && Math.floor((time[j] / span) * width) === column; j++) {
      if (value[j] < value[lo]) lo = j;
      if (value[j] > value[hi]) hi = j;
    }
    for (const k of lo === hi ? [lo] : [Math.min(lo, hi), Math.max(lo, hi)]) {
      out.push({ x: (time[k] / span) * width, v: value[k] });
    }
    i = j;
  }
  return out;
}
