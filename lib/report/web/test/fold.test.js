import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Folder, lowerBound } from '../src/fold.js';
import { parse } from '../src/unpack.js';
import { smallProfile } from './pack.js';

const folder = () => new Folder(parse(smallProfile().bytes));
const whole = { event: 0, threads: null, range: null };

/** @param {Folder} f @param {Float64Array} list */
const byName = (f, list) => {
  const { functions, shortNames } = f.profile.header;
  /** @type {Record<string, number>} */
  const out = {};
  list.forEach((v, i) => {
    if (i) out[`${functions[i]} ${shortNames[f.profile.fnModule[i]]}`] = v;
  });
  return out;
};

test('self and inclusive weights; recursion counts once a stack, modules keep their own', () => {
  const f = folder();
  const a = f.ask({ scope: whole, hot: 'function' });
  assert.equal(a.samples, 7);
  assert.equal(a.weight, 7016);
  assert.ok(a.hot);
  assert.deepEqual(byName(f, a.hot.self), {
    'main app': 1000,
    'work app': 3004,
    'write libc.so': 0,
    'sys [kernel]': 1003,
    'vfs [kernel]': 1004,
    'work libc.so': 1005,
  });
  assert.deepEqual(byName(f, a.hot.total), {
    'main app': 6011,
    'work app': 3004,
    'write libc.so': 2007,
    'sys [kernel]': 2007,
    'vfs [kernel]': 1004,
    'work libc.so': 1005,
  });
});

test('modules: inclusive counts a module once a stack', () => {
  const a = folder().ask({ scope: whole, hot: 'module' });
  assert.deepEqual([...(a.hot?.self ?? [])], [0, 4004, 1005, 2007]);
  assert.deepEqual([...(a.hot?.total ?? [])], [0, 6011, 3012, 2007]);
});

test('threads and ranges', () => {
  const f = folder();
  const b = f.ask({ scope: { ...whole, threads: [1] } });
  assert.deepEqual([b.samples, b.weight], [3, 3011]);
  assert.deepEqual([...b.threadWeight], [4005, 3011], 'all threads, whatever the scope');
  const middle = f.ask({ scope: { ...whole, range: { from: 10, to: 40 } } });
  assert.deepEqual([middle.samples, middle.weight], [2, 2002], 'the end is not included');
  const end = f.ask({ scope: { ...whole, range: { from: 50, to: 61 } } });
  assert.deepEqual([end.samples, end.weight], [3, 3012]);
  const nothing = f.ask({ scope: { ...whole, threads: [] }, tree: 'full' });
  assert.equal(nothing.weight, 0);
  assert.ok(nothing.total?.every((v) => v === 0));
});

test('ranges that meet add up to the whole', () => {
  const f = folder();
  for (let cut = 1; cut <= 60; cut++) {
    const left = f.ask({ scope: { ...whole, range: { from: 0, to: cut } }, tree: 'boundary' });
    const right = f.ask({ scope: { ...whole, range: { from: cut, to: 61 } }, tree: 'boundary' });
    assert.equal(left.weight + right.weight, 7016);
    assert.equal((left.total?.[0] ?? 0) + (right.total?.[0] ?? 0), 7016);
  }
});

test('the kernel folds into one leaf per caller and keeps its weight', () => {
  const f = folder();
  const { shape } = f;
  const total = f.ask({ scope: whole, tree: 'boundary' }).total ?? new Float64Array();
  const names = [...shape.trees.boundary.fn].map((fn) => shape.header.functions[fn]);
  assert.deepEqual(names, ['', 'main', 'work', 'work', 'write', '[kernel boundary]', 'work']);
  assert.deepEqual([...total], [7016, 6011, 3004, 1002, 2007, 2007, 1005]);
  assert.equal(shape.fnKind[names.length], 1);
});

test('a curve holds the weight of the scope', () => {
  const f = folder();
  const c = f.curve({ ...whole, threads: [0] }, 4);
  assert.equal(c.sum, 4005);
  assert.deepEqual([...c.weight], [2001, 1001, 0, 1003]);
});

test('lowerBound', () => {
  const t = Uint32Array.of(1, 3, 3, 9);
  assert.deepEqual(
    [0, 1, 2, 3, 4, 9, 10].map((x) => lowerBound(t, x)),
    [0, 0, 1, 1, 3, 3, 4],
  );
});
