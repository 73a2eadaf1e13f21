import assert from 'node:assert/strict';
import { test } from 'node:test';
import { filterRows, sortRows } from '../src/tables.js';
import { cpuSeconds, entries } from '../src/threads.js';

const thread = (
  /** @type {number | null} */ tid,
  /** @type {string} */ name,
  /** @type {number | null} */ cpu = null,
) => ({ tid, pid: 1, name, cpu });
const threads = [
  thread(1, 'idle'),
  thread(2, 'pool', 1),
  thread(3, 'main', 5),
  thread(4, 'pool', 2),
  thread(null, ''),
];

test('threads by share, those without samples last', () => {
  const list = entries(threads, [0, 10, 40, 30, 0], [0, 1, 4, 3, 0], false);
  assert.deepEqual(
    list.map((e) => e.value),
    ['t3', 't4', 't2', 't1', 't'],
  );
  assert.equal(list[4].name, 'unknown thread');
});

test('groups add up all members', () => {
  const list = entries(threads, [0, 20, 40, 30, 0], [0, 2, 4, 3, 0], true);
  assert.deepEqual(
    list.map((e) => [e.label, e.weight]),
    [
      ['pool ×2', 50],
      ['main', 40],
      ['idle', 0],
      ['unknown thread', 0],
    ],
  );
  assert.deepEqual(list[0].threads, [1, 3]);
});

test('CPU seconds: counted, else by share, else unknown', () => {
  const event = { cpu: 10, total: 100, part: false };
  assert.equal(cpuSeconds(threads, null, event, 0), 10);
  assert.equal(cpuSeconds(threads, [1, 3], event, 50), 3);
  assert.equal(cpuSeconds(threads, [0, 1], event, 50), 5);
  assert.equal(cpuSeconds(threads, [0], { cpu: null, total: 100, part: false }, 50), null);
  const part = { cpu: 10, total: 100, part: true };
  assert.equal(cpuSeconds(threads, [1, 3], part, 50), 5, 'the counts are of more than the samples');
  assert.equal(cpuSeconds(threads, [1, 3], { ...part, cpu: null }, 50), null);
});

test('sorting and filtering functions', () => {
  const row = (
    /** @type {string} */ name,
    /** @type {string} */ module,
    /** @type {number} */ self,
    /** @type {number} */ total,
  ) => ({ index: 0, name, module, path: `/lib/${module}`, token: '', self, total });
  const rows = () => [row('b', 'x', 1, 9), row('a', 'y', 5, 5), row('c', 'x', 1, 3), row('a', 'x', 5, 5)];
  const names = (/** @type {string} */ sort) =>
    sortRows(rows(), sort)
      .map((r) => r.name + r.module)
      .join(' ');
  assert.equal(names('-self'), 'ax ay bx cx');
  assert.equal(names('self'), 'bx cx ax ay');
  assert.equal(names('-total'), 'bx ax ay cx');
  assert.equal(names('name'), 'ax ay bx cx');
  assert.equal(names('-module'), 'ay ax bx cx');
  assert.deepEqual(
    filterRows(rows(), 'B').map((r) => r.name),
    ['b', 'a', 'c', 'a'],
    'the path counts',
  );
  assert.deepEqual(
    filterRows(rows(), '/Y').map((r) => r.module),
    ['y'],
  );
});
