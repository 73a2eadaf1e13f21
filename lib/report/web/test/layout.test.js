import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ancestors, layout, MAX_ROWS } from '../src/layout.js';
import { addUp, makeTree } from '../src/tree.js';

/** @param {number[]} depth @param {number[]} self */
function make(depth, self) {
  const tree = makeTree(
    Uint32Array.from(depth),
    Uint32Array.from(depth, (_, i) => i),
  );
  const total = Float64Array.from(self);
  addUp(tree, total);
  return { tree, total };
}

/** @param {import('../src/layout.js').Layout} l */
const boxes = (l) =>
  l.node.map((n, i) => [n, l.row[i], Math.round(l.x[i] * 100) / 100, Math.round(l.w[i] * 100) / 100]);

test('a child is as wide as its share, beside the weight of its parent', () => {
  const { tree, total } = make([0, 1, 2, 3, 1], [0, 75, 20, 5, 0]);
  const l = layout(tree, total, 0, 1000);
  assert.deepEqual(boxes(l), [
    [0, 0, 0, 1000],
    [1, 1, 0, 1000],
    [2, 2, 0, 250],
    [3, 3, 0, 50],
  ]);
  assert.equal(l.rows, 4);
  assert.deepEqual(boxes(layout(tree, total, 2, 100)), [
    [2, 0, 0, 100],
    [3, 1, 0, 20],
  ]);
});

test('callees begin where their caller does', () => {
  const { tree, total } = make([0, 1, 2, 1, 2], [0, 3, 1, 2, 2]);
  assert.deepEqual(boxes(layout(tree, total, 0, 800)), [
    [0, 0, 0, 800],
    [1, 1, 0, 400],
    [2, 2, 0, 100],
    [3, 1, 400, 400],
    [4, 2, 400, 200],
  ]);
});

test('nothing to draw', () => {
  const { tree, total } = make([0, 1], [0, 0]);
  assert.equal(layout(tree, total, 0, 1000).node.length, 0);
  assert.equal(layout(tree, total, 0, 1000).rows, 0);
});

test('narrow neighbours become one run that keeps their width and number', () => {
  const n = 3000;
  const { tree, total } = make([0, 1, ...new Array(n).fill(2)], [0, n, ...new Array(n).fill(1)]);
  const l = layout(tree, total, 0, 1000);
  assert.equal(l.node.length, 3);
  const run = l.node.indexOf(-1);
  assert.equal(Math.round(l.w[run]), 500);
  assert.deepEqual([l.from[run], l.to[run]], [2, 2 + n]);
  assert.equal(l.rows, 3, 'a run that is most of the row is no hairline');
  assert.equal(layout(tree, total, 0, 40).rows, 2, 'one that is narrow is not drawn');
});

test('a profile of narrow roots alone is not empty, and its depth is known', () => {
  const depth = [0];
  for (let i = 0; i < 3000; i++) depth.push(1, 2, 3, 4, 5, 6);
  const { tree, total } = make(
    depth,
    depth.map((d) => (d === 6 ? 1 : 0)),
  );
  const l = layout(tree, total, 0, 1000);
  assert.equal(l.rows, 2);
  assert.deepEqual([l.from[1], l.to[1], l.w[1].toFixed(3)], [1, depth.length, '1000.000']);
  assert.equal(l.cut, 5);
});

test('the graph ends at the last row with a frame two pixels wide', () => {
  const { tree, total } = make([0, 1, 2, 3], [0, 998.5, 0, 1.5]);
  const l = layout(tree, total, 0, 1000);
  assert.equal(l.rows, 2);
  assert.equal(l.cut, 2);
});

test('and at 48 rows, however deep the stacks are', () => {
  const depth = Array.from({ length: 3000 }, (_, i) => i);
  const self = depth.map((d) => (d === 2999 ? 1 : 0));
  const { tree, total } = make(depth, self);
  const l = layout(tree, total, 0, 1000);
  assert.equal(l.rows, MAX_ROWS);
  assert.equal(l.cut, 3000 - MAX_ROWS);
  assert.equal(layout(tree, total, 2990, 1000).rows, 10);
  assert.equal(ancestors(tree, 2990).length, 2990);
  assert.deepEqual(ancestors(tree, 2), [0, 1]);
});

test('no width is lost in a row of siblings', () => {
  const kids = Array.from({ length: 500 }, (_, i) => (i * 7919) % 31);
  const { tree, total } = make([0, ...kids.map(() => 1)], [0, ...kids]);
  const l = layout(tree, total, 0, 777);
  const sum = l.w.reduce((a, w, i) => a + (l.row[i] === 1 ? w : 0), 0);
  assert.ok(Math.abs(sum - 777) < 1e-6);
});
