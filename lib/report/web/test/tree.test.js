import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addUp, foldKernel, heightOf, makeTree, matched, matcher, outermost, selfOf } from '../src/tree.js';

/** @param {number[]} depth @param {number[]} fn */
const tree = (depth, fn) => makeTree(Uint32Array.from(depth), Uint32Array.from(fn));

test('parents and ends of subtrees', () => {
  const t = tree([0, 1, 2, 2, 3, 1], [0, 1, 2, 3, 4, 5]);
  assert.deepEqual([...t.parent], [0, 0, 1, 1, 3, 0]);
  assert.deepEqual([...t.end], [6, 5, 3, 5, 5, 6]);
});

test('a parent with weight of its own does not give its whole width to its child', () => {
  const t = tree([0, 1, 2, 3, 1], [0, 1, 2, 3, 4]);
  const total = Float64Array.of(0, 75, 20, 5, 0);
  addUp(t, total);
  assert.deepEqual([...total], [100, 100, 25, 5, 0]);
  assert.deepEqual(
    [0, 1, 2, 3, 4].map((i) => selfOf(t, total, i)),
    [0, 75, 20, 5, 0],
  );
  assert.equal(heightOf(t, total, 0), 3);
  assert.equal(heightOf(t, total, 4), 0);
});

test('rows without weight are no height', () => {
  const t = tree([0, 1, 2, 3], [0, 1, 2, 3]);
  assert.equal(heightOf(t, Float64Array.of(5, 5, 0, 0), 0), 1);
});

test('stacks of a hundred thousand frames need no recursion', () => {
  const n = 100_000;
  const t = makeTree(
    Uint32Array.from({ length: n }, (_, i) => i),
    new Uint32Array(n).fill(1),
  );
  const total = new Float64Array(n);
  total[n - 1] = 3;
  addUp(t, total);
  assert.equal(total[0], 3);
  assert.equal(heightOf(t, total, 0), n - 1);
  assert.equal(
    outermost(t, (i) => t.fn[i], 2).reduce((a, v) => a + v, 0),
    1,
  );
});

test('a match within a match is counted once', () => {
  //             root a b a b
  const t = tree([0, 1, 2, 3, 1], [0, 1, 2, 1, 2]);
  const total = Float64Array.of(0, 1, 2, 4, 8);
  addUp(t, total);
  assert.deepEqual(matched(t, total, Uint8Array.of(0, 1, 0), 0), { weight: 7, frames: 2 });
  assert.deepEqual(matched(t, total, Uint8Array.of(0, 0, 1), 0), { weight: 14, frames: 2 });
  assert.deepEqual(matched(t, total, Uint8Array.of(0, 1, 1), 0), { weight: 15, frames: 4 });
  assert.deepEqual(matched(t, total, Uint8Array.of(0, 1, 0), 2), { weight: 4, frames: 1 }, 'below the zoom');
  assert.deepEqual(matched(t, total, Uint8Array.of(0, 0, 0), 0), { weight: 0, frames: 0 });
});

test('user frames below the kernel stay inside its leaf; unknown ones elsewhere stay', () => {
  // root main sys callback ?; root ? main
  const t = tree([0, 1, 2, 3, 1, 2], [0, 1, 2, 3, 4, 1]);
  const { tree: folded, to } = foldKernel(t, Uint32Array.of(0, 0, 1, 0, 2, 1), 5);
  assert.deepEqual([...folded.fn], [0, 1, 5, 4, 1]);
  assert.deepEqual([...to], [0, 1, 2, 2, 3, 4]);
});

test('kernel at the root, twice', () => {
  const { tree: folded, to } = foldKernel(tree([0, 1, 2, 1], [0, 1, 2, 2]), Uint32Array.of(0, 1, 1, 1), 3);
  assert.deepEqual([...folded.fn], [0, 3]);
  assert.deepEqual([...to], [0, 1, 1, 1]);
});

test('searches are literal unless they are between slashes', () => {
  assert.equal(matcher(''), null);
  const literal = matcher('a.c(');
  assert.ok(literal?.('xA.C(int)'));
  assert.ok(!literal?.('abc('));
  const re = matcher('/^a.c$/i');
  assert.ok(re?.('ABC') && re('ABC'), 'no state between calls');
  assert.ok(matcher('/x/g')?.('x'));
  assert.throws(() => matcher('/(/'), SyntaxError);
  assert.ok(matcher('/usr')?.('/usr/bin'), 'a lone slash is literal');
});
