import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client } from '../src/client.js';

/** A worker that answers what it is told to. */
class FakeWorker {
  /** @type {FakeWorker} */
  static last;
  /** @type {(r: any) => any} */
  static answer = () => ({});
  /** @type {any} */ onmessage;
  /** @type {any} */ onerror;
  terminated = false;

  constructor() {
    FakeWorker.last = this;
  }

  /** @param {any} r */
  postMessage(r) {
    const result = FakeWorker.answer(r);
    if (result && !this.terminated) queueMicrotask(() => this.onmessage({ data: { id: r.id, result } }));
  }

  terminate() {
    this.terminated = true;
  }
}
// @ts-expect-error node has none
globalThis.Worker = FakeWorker;

const question = { scope: { event: 0, threads: null, range: null } };
/** @type {(p: Promise<any>) => Promise<string>} what became of it, soon */
const fate = (p) =>
  Promise.race([
    p.then(
      (v) => `answered ${JSON.stringify(v)}`,
      (e) => `rejected: ${e.message}`,
    ),
    new Promise((resolve) => setTimeout(resolve, 200, 'never settled')),
  ]);

test('a worker that breaks rejects what waits and what comes', async () => {
  FakeWorker.answer = (r) => (r.open ? { header: 1 } : null);
  const { client } = await Client.open('data', 'script');
  const curve = fate(client.curve(question.scope, 1));
  const asked = fate(client.ask(question));
  const waiting = fate(client.ask(question));
  FakeWorker.last.onerror({ message: 'out of memory', preventDefault() {} });
  assert.equal(await curve, 'rejected: out of memory');
  assert.equal(await asked, 'rejected: out of memory');
  assert.equal(await waiting, 'rejected: out of memory');
  assert.equal(await fate(client.ask(question)), 'rejected: out of memory');
  assert.equal(await fate(client.curve(question.scope, 1)), 'rejected: out of memory');
  assert.ok(FakeWorker.last.terminated);
});

test('an error of one request is not the end', async () => {
  FakeWorker.answer = (r) => (r.open ? { header: 1 } : null);
  const { client } = await Client.open('data', 'script');
  const asked = fate(client.ask(question));
  FakeWorker.last.onmessage({ data: { id: 2, error: 'too many' } });
  assert.equal(await asked, 'rejected: too many');
  FakeWorker.answer = () => ({ weight: 3 });
  assert.equal(await fate(client.ask(question)), 'answered {"weight":3}');
});

test('a question that is overtaken while it waits is answered with null', async () => {
  FakeWorker.answer = (r) => (r.open ? { header: 1 } : { weight: r.id });
  const { client } = await Client.open('data', 'script');
  const all = [1, 2, 3].map(() => fate(client.ask(question)));
  assert.deepEqual(await Promise.all(all), [
    'answered {"weight":2}',
    'answered null',
    'answered {"weight":3}',
  ]);
});
