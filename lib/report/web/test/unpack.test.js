import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse, readColumn, unpack } from '../src/unpack.js';
import { pack, smallProfile } from './pack.js';

test('a block is unpacked from base64', async () => {
  const p = await unpack(smallProfile().base64);
  assert.equal(p.header.functions[6], 'work');
  assert.deepEqual([...p.depth], [0, 1, 2, 3, 2, 3, 4, 1]);
  assert.deepEqual([...p.events[0].time], [0, 10, 30, 40, 50, 60, 60]);
  assert.deepEqual([...p.events[0].weight], [1000, 1001, 1001, 1002, 1003, 1004, 1005]);
});

test('columns of every code and width', () => {
  for (const values of [
    [],
    [0],
    [0, 0, 0],
    [255, 256, 0],
    [65535, 65536, 1],
    [4294967295, 0],
    [2 ** 32, 2 ** 52 + 1, 7],
  ]) {
    for (const code of /** @type {const} */ (['plain', 'delta'])) {
      const { bytes } = pack({}, { c: { code, values } });
      const size = new DataView(bytes.buffer).getUint32(0, true);
      const [column] = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + size))).columns;
      const out = readColumn(bytes, 4 + size, column, new Float64Array(values.length));
      assert.deepEqual([...out], values, `${code} ${values}`);
    }
  }
  const constant = { name: 'c', count: 3, code: /** @type {const} */ ('constant'), planes: 0, value: 9 };
  assert.deepEqual([...readColumn(new Uint8Array(0), 0, constant, new Uint32Array(3))], [9, 9, 9]);
});

test('a block that was cut is refused, not read as zeros', async () => {
  const { bytes, base64 } = smallProfile();
  assert.throws(() => parse(bytes.slice(0, bytes.length - 3)), /cut/);
  assert.throws(() => parse(pack({ events: [], rss: [] }, {}).bytes), /no column node.depth/);
  await assert.rejects(unpack(base64.slice(0, base64.length >> 1)));
});
