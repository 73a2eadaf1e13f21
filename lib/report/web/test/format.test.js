import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  bytes,
  duration,
  durationColumn,
  fit,
  grouped,
  percent,
  percentSign,
  scaled,
  shorter,
  significant,
  weightText,
} from '../src/format.js';

test('numbers', () => {
  assert.equal(grouped(44052), '44\u202f052');
  assert.equal(grouped(-1234567), '−1\u202f234\u202f567');
  assert.equal(grouped(999), '999');
  assert.equal(percent(1, 3), '33.3');
  assert.equal(percent(1, 0), '–');
  assert.equal(percentSign(1, 3), '33.3 %');
  assert.equal(percentSign(0, 0), '–');
  assert.deepEqual([0, 7, 47.94, 1.654, 0.00123, 1234.5].map(significant), [
    '0',
    '7',
    '47.9',
    '1.65',
    '0.00123',
    '1\u202f235',
  ]);
  assert.deepEqual([0, 4.5e-7, 0.0123, 2.5, 900].map(duration), [
    '0 s',
    '450 ns',
    '12.3 ms',
    '2.50 s',
    '15 min',
  ]);
  assert.equal(bytes(63_217_664), '60.3 MiB');
  assert.equal(scaled(954e9), '954 G');
  assert.equal(weightText(954e9, 'cycles'), '954 G cycles');
  assert.equal(weightText(12, 'cycles'), '12 cycles');
  assert.equal(weightText(1_500_000_000, 'ns'), '1.50 s');
  assert.equal(weightText(42, ''), '42');
});

test('a column of durations has one unit', () => {
  const s = durationColumn(1.47);
  assert.deepEqual([s.unit, s.text(1.468), s.text(0.004)], ['s', '1.47', '0.00']);
  const ms = durationColumn(0.217);
  assert.deepEqual([ms.unit, ms.text(0.2168), ms.text(0.001)], ['ms', '217', '1']);
});

test('names grow shorter from the outside', () => {
  assert.deepEqual(shorter('store::SkipList<Key, 12>::seek(Key const&) const'), [
    'store::SkipList<Key, 12>::seek(Key const&) const',
    'store::SkipList<Key, 12>::seek',
    'store::SkipList::seek',
    'SkipList::seek',
    'seek',
  ]);
  assert.deepEqual(shorter('(anonymous namespace)::run(int)'), [
    '(anonymous namespace)::run(int)',
    '(anonymous namespace)::run',
    'run',
  ]);
  assert.deepEqual(shorter('<T as Trait>::go'), ['<T as Trait>::go', 'go']);
  for (const whole of [
    'operator<',
    'Vec::operator<(Vec const&)',
    'a->b',
    'f(',
    'main',
    '<module>',
    '(',
    ')',
    '',
  ]) {
    assert.equal(shorter(whole)[0], whole);
    assert.ok(shorter(whole).every(Boolean) || whole === '');
  }
});

test('fit gives what the width allows', () => {
  const measure = (/** @type {string} */ s) => s.length;
  assert.equal(fit('a::b::run(int)', 99, measure), 'a::b::run(int)');
  assert.equal(fit('a::b::run(int)', 9, measure), 'a::b::run');
  assert.equal(fit('a::b::run(int)', 4, measure), 'run');
  assert.equal(fit('long_function', 6, measure), 'long_…');
  assert.equal(fit('long_function', 3, measure), '');
  assert.equal(fit('😀😀😀😀😀😀😀', 7, measure), '😀😀😀…', 'no half characters');
});
