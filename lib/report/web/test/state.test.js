import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULTS, parseRange, parseState, rangeText, stateText } from '../src/state.js';

test('what is written is read', () => {
  const s = {
    ...DEFAULTS,
    tab: 'flame',
    q: 'a,b=c&#é%',
    who: 'gio reactor',
    range: '0.5-1.25',
    theme: 'dark',
  };
  assert.deepEqual(parseState(stateText(s)), s);
  assert.equal(stateText(DEFAULTS), '#');
});

test('nonsense is ignored', () => {
  for (const text of [
    '',
    '#',
    '#x=1',
    '#=1',
    '#tab',
    '#q=%E0%A4%A',
    '#__proto__=1,constructor=2,hasOwnProperty=3',
  ]) {
    assert.deepEqual(parseState(text), { ...DEFAULTS }, text);
  }
});

test('ranges', () => {
  const read = (/** @type {string} */ text) => parseRange(text, 1000, 2_000_000);
  assert.deepEqual(read('0.5-1.25'), { from: 500_000, to: 1_250_000 });
  assert.deepEqual(read('1-99'), { from: 1_000_000, to: 2_000_001 }, 'the end of the run');
  assert.equal(read('0-99'), null, 'the whole run is no range');
  for (const bad of ['', 'x', '1', '2-1', '1-1', '-1-2', '1e9-2', 'NaN-1', '0x1-2'])
    assert.equal(read(bad), null, bad);
  const r = { from: 123_456, to: 1_999_999 };
  assert.deepEqual(read(rangeText(r, 1000)), r);
});
