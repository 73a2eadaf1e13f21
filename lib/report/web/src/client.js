import { Folder } from './fold.js';
import { unpack } from './unpack.js';

/**
 * The samples live behind a Client: in a worker where the browser lets a page start one
 * from a blob, else on the main thread. A worker that breaks later has taken the samples
 * with it: every request under way and every later one is rejected.
 *
 * @typedef {Folder['shape']} Shape
 * @typedef {import('./fold.js').Question} Question
 * @typedef {import('./fold.js').Answer} Answer
 * @typedef {import('./fold.js').Scope} Scope
 * @typedef {{ id: number, open?: string, ask?: Question, curve?: { scope: Scope, buckets: number } }} Request
 */

/** Answers requests. It is the same code on both sides. */
class Server {
  /** @type {Folder | undefined} */
  folder;

  /** @param {Request} r */
  async answer(r) {
    if (r.open !== undefined) {
      this.folder = new Folder(await unpack(r.open));
      return this.folder.shape;
    }
    if (!this.folder) throw new Error('the profile is not open');
    if (r.ask) return this.folder.ask(r.ask);
    if (r.curve) return this.folder.curve(r.curve.scope, r.curve.buckets);
    throw new Error('unknown request');
  }
}

/** Runs as the worker: the page's script started without a document. */
export function serve() {
  const server = new Server();
  const port = /** @type {Worker} */ (/** @type {unknown} */ (globalThis));
  port.onmessage = async ({ data }) => {
    try {
      port.postMessage({ id: data.id, result: await server.answer(data) });
    } catch (err) {
      port.postMessage({ id: data.id, error: String(err) });
    }
  };
}

export class Client {
  /** @type {Map<number, { resolve: (v: any) => void, reject: (e: Error) => void }>} */
  waiting = new Map();
  /** @type {((r: Request) => Promise<any>) | undefined} */
  send;
  /** @type {Worker | undefined} */
  worker;
  id = 0;
  busy = false;
  /** @type {{ question: Question, resolve: (a: Answer | null) => void, reject: (e: Error) => void } | null} */
  next = null;

  /**
   * @param {string} base64 the data block @param {string} script the page's own
   * @returns {Promise<{ client: Client, shape: Shape }>}
   */
  static async open(base64, script) {
    const client = new Client();
    try {
      client.startWorker(script);
      return { client, shape: await client.request({ id: 0, open: base64 }) };
    } catch {
      // No worker here; what the worker could not do the same code will try below, and
      // report if it fails too.
      client.worker?.terminate();
      const server = new Server();
      client.send = (r) => server.answer(r);
      return { client, shape: await client.request({ id: 0, open: base64 }) };
    }
  }

  /** @param {string} script */
  startWorker(script) {
    const url = URL.createObjectURL(new Blob([script], { type: 'text/javascript' }));
    const worker = new Worker(url);
    this.worker = worker;
    worker.onmessage = ({ data }) => {
      const w = this.waiting.get(data.id);
      this.waiting.delete(data.id);
      if (data.error) w?.reject(new Error(data.error));
      else w?.resolve(data.result);
    };
    const broken = (/** @type {Error} */ err) => {
      worker.terminate();
      this.send = () => Promise.reject(err);
      for (const w of this.waiting.values()) w.reject(err);
      this.waiting.clear();
    };
    worker.onerror = (e) => {
      e.preventDefault();
      broken(new Error(e.message || 'the worker ended'));
    };
    worker.onmessageerror = () => broken(new Error('the answer of the worker was lost'));
    this.send = (r) =>
      new Promise((resolve, reject) => {
        this.waiting.set(r.id, { resolve, reject });
        worker.postMessage(r);
      });
  }

  /** @param {Request} r */
  request(r) {
    if (!this.send) throw new Error('the profile is not open');
    return this.send({ ...r, id: ++this.id });
  }

  /** @param {Scope} scope @param {number} buckets @returns {Promise<import('./fold.js').Curve>} */
  curve(scope, buckets) {
    return this.request({ id: 0, curve: { scope, buckets } });
  }

  /**
   * Asks for an answer; a question that a newer one overtakes while it waits is answered
   * with null, so that a drag never builds up a queue.
   * @param {Question} question @returns {Promise<Answer | null>}
   */
  ask(question) {
    return new Promise((resolve, reject) => {
      this.next?.resolve(null);
      this.next = { question, resolve, reject };
      if (!this.busy) this.pump();
    });
  }

  async pump() {
    this.busy = true;
    while (this.next) {
      const { question, resolve, reject } = this.next;
      this.next = null;
      try {
        resolve(await this.request({ id: 0, ask: question }));
      } catch (err) {
        reject(/** @type {Error} */ (err));
      }
    }
    this.busy = false;
  }
}
