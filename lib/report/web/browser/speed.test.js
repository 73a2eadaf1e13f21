import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import { test } from 'node:test';
import { open, report } from './open.js';
import { longRun } from './streams.js';

/**
 * The targets are for a machine that does nothing else: 1.5 s, 30 frames a second. How busy
 * this one is no test can know, so the figures are printed (`make bench` shows them) and
 * what is tested is the size, and that a drag is followed at all.
 */
test('a million samples: size, opening, dragging', async (t) => {
  const file = report(longRun(1_000_000, 50_000, 64));
  const size = statSync(file).size;
  t.diagnostic(`page: ${(size / 1e6).toFixed(2)} MB`);
  assert.ok(size < 8e6, `${size} bytes`);
  const page = await open(t, file, { hash: '#tab=flame' });
  const ready = await page.evaluate(() => performance.getEntriesByName('ready')[0].startTime);
  t.diagnostic(`opened in ${ready.toFixed(0)} ms`);
  for (const tab of ['flame', 'hotspots', 'overview', 'threads']) {
    await page.click(`#tab-${tab}`);
    await page.waitForTimeout(300);
    const rate = await page.evaluate(dragFor, 2000);
    t.diagnostic(`${tab}: ${rate.toFixed(0)} updates a second while dragging`);
    assert.ok(rate > 0, 'nothing follows the drag');
  }
});

/** Drags a border back and forth, a step a frame, and counts what is drawn. @param {number} ms */
async function dragFor(ms) {
  const sel = /** @type {HTMLElement} */ (document.getElementById('sel'));
  const box = sel.getBoundingClientRect();
  const send = (/** @type {string} */ type, /** @type {number} */ x) =>
    sel.dispatchEvent(new PointerEvent(type, { clientX: box.x + x, clientY: box.y + 60, bubbles: true }));
  sel.setPointerCapture = () => {}; // there is no real pointer to capture
  let updates = 0;
  const watch = new MutationObserver(() => updates++);
  watch.observe(/** @type {Node} */ (document.getElementById('line')), { childList: true });
  send('pointerdown', 100);
  const begun = performance.now();
  for (let i = 0; performance.now() - begun < ms; i++) {
    await new Promise(requestAnimationFrame);
    send('pointermove', 120 + ((i * 7) % 900));
  }
  const seconds = (performance.now() - begun) / 1000;
  send('pointerup', 500);
  watch.disconnect();
  return updates / seconds;
}

test('a page with next to no data is small', () => {
  const file = report('a 1\n');
  const size = readFileSync(file).length;
  assert.ok(size < 150_000, `${size} bytes`);
});
