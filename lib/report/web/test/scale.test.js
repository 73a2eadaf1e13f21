import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bucketCount, extremes, roundUp, scaleToMean, smooth, ticks } from '../src/scale.js';

const mean = (/** @type {Float64Array} */ v) => v.reduce((a, b) => a + b, 0) / v.length;

test('smoothing keeps the sum', () => {
  const v = Float64Array.of(8, 0, 0, 0, 16, 0);
  const s = smooth(v, 3);
  assert.ok(Math.abs(s.reduce((a, b) => a + b, 0) - 24) < 1e-9);
  assert.ok(s[1] > 0 && s[0] < 8);
  assert.deepEqual([...smooth(Float64Array.of(5), 2)], [5]);
});

test('the mean is what was counted', () => {
  const v = scaleToMean(Float64Array.of(1, 2, 3, 2), 0.5, 4);
  assert.ok(Math.abs(mean(v) - 0.5) < 1e-9);
  assert.ok(Math.abs(v[2] / v[0] - 3) < 1e-9, 'the shape is kept');
});

test('what the ceiling cuts off is spread over the others', () => {
  const v = scaleToMean(Float64Array.of(1, 100, 1, 1), 1, 2);
  assert.ok(Math.abs(mean(v) - 1) < 1e-6);
  assert.equal(v[1], 2);
});

test('no more than the ceiling, no less than nothing', () => {
  assert.deepEqual([...scaleToMean(Float64Array.of(1, 0, 3), 9, 2)], [2, 0, 2]);
  assert.deepEqual([...scaleToMean(Float64Array.of(0, 0), 1, 2)], [0, 0]);
  assert.deepEqual([...scaleToMean(Float64Array.of(1, 2), 0, 2)], [0, 0]);
});

test('axes', () => {
  assert.deepEqual([0, 0.4, 1, 1.1, 3, 7, 64, 1900].map(roundUp), [1, 0.4, 1, 2, 4, 8, 80, 2000]);
  assert.deepEqual(ticks(2, 4), [0, 0.5, 1, 1.5, 2]);
  assert.deepEqual(ticks(48.2, 10), [0, 5, 10, 15, 20, 25, 30, 35, 40, 45]);
  assert.deepEqual(ticks(0, 10), []);
  assert.equal(bucketCount(1200, 1_000_000), 400);
  assert.equal(bucketCount(1200, 3), 20);
});

test('thinned readings keep their peaks', () => {
  const time = Uint32Array.from({ length: 1000 }, (_, i) => i);
  const value = new Float64Array(1000).fill(5);
  value[537] = 99;
  value[538] = 1;
  const points = extremes(time, value, 1000, 50);
  assert.ok(points.length <= 100);
  assert.ok(points.some((p) => p.v === 99) && points.some((p) => p.v === 1));
});
