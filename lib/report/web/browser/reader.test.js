import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clickFrame, drag, hover, open, ready, report, settle, tableRows } from './open.js';
import { hotspots, matchedShare, samplesOf } from './oracle.js';
import { threadsProgram } from './streams.js';

const stream = threadsProgram();
const samples = samplesOf(stream);
const file = report(stream);

test('hotspots are those of the records, and those that vp-html wrote into the plain page', async (t) => {
  const page = await open(t, file, { hash: '#tab=hotspots' });
  const rows = await tableRows(page, '#hot');
  assert.deepEqual([...rows].sort(), hotspots(samples));
  const plain = await open(t, file, { script: false });
  assert.deepEqual(await tableRows(plain, '#top'), rows.slice(0, 20));
});

test('without JavaScript the overview can be read', async (t) => {
  const page = await open(t, file, { script: false });
  assert.ok(await page.locator('#overview').isVisible());
  assert.ok(await page.getByText('Where did the time go').isVisible());
  assert.ok(await page.getByText('this machine has no hardware counters').isVisible());
  for (const id of ['#tabs', '#controls', '#theme', '#hotspots']) {
    assert.ok(!(await page.locator(id).isVisible()), id);
  }
});

test('a thread is chosen: label, hotspots, scope line, metrics', async (t) => {
  const page = await open(t, file, { hash: '#tab=hotspots' });
  const options = await page.locator('#who option').allTextContents();
  assert.match(options[0], /all threads \(7\)/);
  assert.match(options[1], /^\d+\.\d %\s+worker \(4101\)$/);
  assert.match(options[7], /^0\.0 %\s+logger/, 'threads without samples come last');
  await page.selectOption('#who', 't4105');
  await settle(page);
  assert.deepEqual((await tableRows(page, '#hot')).sort(), hotspots(samples.filter((s) => s.tid === 4105)));
  const n = samples.filter((s) => s.tid === 4105).length;
  assert.match(
    await page.locator('#line').innerText(),
    new RegExp(`^io-reactor · whole run · .* % of all cpu-clock · ${n} samples`),
  );
  await page.selectOption('#who', 't4101');
  await page.click('#tab-overview');
  await settle(page);
  assert.match(await page.locator('#metrics').innerText(), /CPU time\s+1\.50\s+s/);
  assert.match(await page.locator('#metric-scope').innerText(), /worker, whole run/);
  assert.equal(
    await page
      .locator('#y')
      .innerText()
      .then((s) => s.includes('Busy CPUs')),
    true,
  );
});

test('threads are grouped by name', async (t) => {
  const page = await open(t, file, { hash: '#tab=threads' });
  assert.equal(await page.locator('#thread-rows tr').count(), 7);
  await page.check('#group');
  await settle(page);
  assert.equal(await page.locator('#thread-rows tr').count(), 4);
  await page.selectOption('#who', 'gworker');
  await page.click('#tab-hotspots');
  await settle(page);
  const workers = samples.filter((s) => s.tid >= 4101 && s.tid <= 4104);
  assert.deepEqual((await tableRows(page, '#hot')).sort(), hotspots(workers));
  assert.match(await page.locator('#line').innerText(), /^worker, 4 threads/);
});

test('a range is dragged, moved, cleared; the views follow it', async (t) => {
  const page = await open(t, file, { hash: '#tab=hotspots' });
  const whole = await tableRows(page, '#hot');
  await drag(page, 0.25, 0.75);
  const line = await page.locator('#line').innerText();
  const m = /(\d\.\d+) s to (\d\.\d+) s · (\d+\.\d) % of the run/.exec(line);
  assert.ok(m, line);
  assert.ok(Math.abs(Number(m[3]) - 50) < 1, line);
  // The exact borders are in the address.
  const range = /range=([\d.]+)-([\d.]+)/.exec(page.url());
  assert.ok(range, page.url());
  const start = 5_000_000_000_000;
  const inside = samples.filter((s) => {
    const tick = Math.floor((s.time - start) / 1000);
    return tick >= Math.round(Number(range[1]) * 1e6) && tick < Math.round(Number(range[2]) * 1e6);
  });
  assert.deepEqual((await tableRows(page, '#hot')).sort(), hotspots(inside));
  await drag(page, 0.5, 0.6);
  const moved = /(\d\.\d+) s to (\d\.\d+) s/.exec(await page.locator('#line').innerText());
  assert.ok(moved && Math.abs(Number(moved[1]) - Number(m[1]) - 0.2) < 0.01, 'moved by a tenth of the run');
  await page.click('#reset');
  await settle(page);
  assert.deepEqual(await tableRows(page, '#hot'), whole);
  assert.ok(!(await page.locator('#reset').isVisible()));
  await drag(page, 0.1, 0.2);
  const box = await page.locator('#sel').boundingBox();
  assert.ok(box);
  await page.mouse.dblclick(box.x + 20, box.y + 60);
  await settle(page);
  assert.deepEqual(await tableRows(page, '#hot'), whole);
});

test('a border is moved by keyboard', async (t) => {
  const page = await open(t, file);
  const left = page.locator('.h').first();
  await left.focus();
  await page.keyboard.press('Shift+ArrowRight');
  await page.keyboard.press('ArrowRight');
  await settle(page);
  assert.match(await page.locator('#line').innerText(), /0\.22 s to 2\.01 s · 89\.0 % of the run/);
  assert.equal(await left.getAttribute('aria-valuetext'), '0.22 s');
  await page.keyboard.press('Escape');
  await settle(page);
  assert.match(await page.locator('#line').innerText(), /whole run/);
});

test('a link reopens the view, and back goes back', async (t) => {
  const page = await open(t, file);
  await page.click('#tab-flame');
  await page.selectOption('#who', 't4102');
  await settle(page);
  await clickFrame(page, 0.1, 4);
  await page.fill('#find', 'seek');
  await page.click('#theme [data-v=dark]');
  await page.click('#dir [data-v=flame]');
  await page.waitForTimeout(400);
  await settle(page);
  const look = async () => ({
    line: await page.locator('#line').innerText(),
    note: await page.locator('#flame-note').innerText(),
    match: await page.locator('#match').innerText(),
    theme: await page.locator('html').getAttribute('data-theme'),
    dir: await page.locator('#dir [aria-pressed=true]').innerText(),
    who: await page.locator('#who').inputValue(),
    tab: await page.locator('[aria-selected=true]').innerText(),
  });
  const before = await look();
  assert.match(before.note, /view is/);
  await page.reload();
  await ready(page);
  assert.deepEqual(await look(), before);
  const { length } = { length: await page.evaluate(() => history.length) };
  await page.click('#tab-hotspots');
  await settle(page);
  assert.equal(await page.evaluate(() => history.length), length + 1);
  await page.goBack();
  await settle(page);
  assert.deepEqual(await look(), before);
});

test('zoom: click in, click out, callers, keyboard, reset', async (t) => {
  const page = await open(t, file, { hash: '#tab=flame' });
  assert.match(await hover(page, 0.1, 0), /^All threads/);
  assert.match(await hover(page, 0.1, 1), /^clone3\nmodule\n.*libc\.so\.6/);
  const tip = await hover(page, 0.1, 4);
  assert.match(tip, /^Router::dispatch/);
  await clickFrame(page, 0.1, 4);
  assert.match(await page.locator('#flame-note').innerText(), /view is 78\.\d % of all/);
  assert.match(await hover(page, 0.9, 4), /^Router::dispatch[\s\S]*100\.0 % of view, 78\.\d % of all/);
  await clickFrame(page, 0.9, 1); // a greyed caller
  assert.match(await page.locator('#flame-note').innerText(), /view is 93\.\d % of all/);
  await clickFrame(page, 0.9, 1); // the zoomed frame itself: one level up
  assert.doesNotMatch(await page.locator('#flame-note').innerText(), /view is/);
  await page.locator('#canvas').focus();
  for (const key of ['ArrowDown', 'ArrowDown', 'Enter']) await page.keyboard.press(key);
  await settle(page);
  assert.match(await page.locator('#frame').innerText(), /^start_thread/);
  assert.match(await page.locator('#flame-note').innerText(), /view is 93\.\d/);
  await page.keyboard.press('Escape');
  await settle(page);
  assert.doesNotMatch(await page.locator('#flame-note').innerText(), /view is/);
  await clickFrame(page, 0.1, 4);
  await page.click('#unzoom');
  await settle(page);
  assert.doesNotMatch(await page.locator('#flame-note').innerText(), /view is/);
  // A change of thread or range begins anew.
  await clickFrame(page, 0.1, 4);
  await drag(page, 0.3, 0.6);
  assert.doesNotMatch(await page.locator('#flame-note').innerText(), /view is/);
});

test('search: share without counting nested matches twice', async (t) => {
  const page = await open(t, file, { hash: '#tab=flame' });
  await page.fill('#find', 'btree::DESCEND');
  await settle(page);
  const want = matchedShare(samples, (n) => n.includes('BTree::descend'));
  assert.match(await page.locator('#match').innerText(), new RegExp(`^${want} % matched in 3 frames`));
  await page.fill('#find', '/^(start_thread|main)$/');
  await settle(page);
  const both = matchedShare(samples, (n) => n === 'start_thread' || n === 'main');
  assert.match(await page.locator('#match').innerText(), new RegExp(`^${both} % matched`));
  await page.fill('#find', '/(/');
  await settle(page);
  assert.equal(await page.locator('#match').innerText(), 'not a regular expression');
  await page.fill('#find', '.*');
  await settle(page);
  assert.match(await page.locator('#match').innerText(), /^0\.0 % matched in 0 frames/, 'literal by default');
});

test('the kernel is one leaf, or in full', async (t) => {
  const page = await open(t, file, { hash: '#tab=flame' });
  await page.fill('#find', '[kernel boundary]');
  await settle(page);
  const kernel = samples.filter((s) => s.frames.some((f) => f.kind === 'kernel'));
  const share = matchedShare(samples, (n) =>
    kernel.some((s) => s.frames.some((f) => f.kind === 'kernel' && f.symbol === n)),
  );
  assert.match(await page.locator('#match').innerText(), new RegExp(`^${share} % matched`));
  await page.selectOption('#kernel', 'full');
  await page.fill('#find', 'vfs_write');
  await settle(page);
  assert.match(
    await page.locator('#match').innerText(),
    new RegExp(`^${matchedShare(samples, (n) => n === 'vfs_write')} %`),
  );
});

test('hotspots sort, filter and group', async (t) => {
  const page = await open(t, file, { hash: '#tab=hotspots' });
  const column = async (/** @type {number} */ i) =>
    (await tableRows(page, '#hot')).map((r) => Number(r.split(' | ')[i]));
  assert.deepEqual(
    await column(1),
    (await column(1)).sort((a, b) => b - a),
  );
  await page.click('[data-key=total]');
  await settle(page);
  assert.deepEqual(
    await column(2),
    (await column(2)).sort((a, b) => b - a),
  );
  assert.equal(await page.locator('th[aria-sort]').getAttribute('aria-sort'), 'descending');
  await page.click('[data-key=total]');
  await settle(page);
  assert.deepEqual(
    await column(2),
    (await column(2)).sort((a, b) => a - b),
  );
  await page.fill('#filter', 'JSON::');
  await settle(page);
  assert.equal(await page.locator('#hot tr').count(), 4);
  assert.match(await page.locator('#hot-count').innerText(), /^4 of 33 functions/);
  await page.fill('#filter', '');
  await page.click('#by [data-v=module]');
  await settle(page);
  const modules = await tableRows(page, '#hot');
  assert.ok(modules.some((r) => r.startsWith('libstore.so.3 | ')));
  const self = modules.reduce((a, r) => a + Number(r.split(' | ')[1]), 0);
  assert.ok(Math.abs(self - 100) < 0.6, `${self}`);
});

test('a function leads to its frames', async (t) => {
  const page = await open(t, file, { hash: '#tab=hotspots' });
  await page.getByRole('button', { name: 'store::BTree::descend' }).click();
  await settle(page);
  assert.equal(await page.locator('[role=tab][aria-selected=true]').innerText(), 'Flame graph');
  const share = matchedShare(samples, (n) => n.includes('BTree::descend'));
  assert.match(await page.locator('#match').innerText(), new RegExp(`^${share} % matched in 3 frames`));
  await page.goBack();
  await settle(page);
  assert.equal(await page.locator('[role=tab][aria-selected=true]').innerText(), 'Hotspots');
  assert.equal(await page.locator('#find').inputValue(), '');
});

test('events are shown one at a time', async (t) => {
  const page = await open(t, file, { hash: '#tab=hotspots' });
  assert.deepEqual(await page.locator('#event option').allTextContents(), ['cpu-clock (ns)', 'page-faults']);
  await page.selectOption('#event', '1');
  await settle(page);
  const faults = samplesOf(stream, 2);
  assert.deepEqual((await tableRows(page, '#hot')).sort(), hotspots(faults));
  assert.match(await page.locator('#line').innerText(), new RegExp(`${faults.length} samples`));
});

test('the memory chart shows the measured peak', async (t) => {
  const page = await open(t, file);
  await page.click('#mode [data-v=rss]');
  await settle(page);
  const peak = Math.max(
    ...stream
      .split('\n')
      .filter((l) => l.includes('"rss"'))
      .map((l) => JSON.parse(l).bytes),
  );
  assert.equal(await page.locator('#peak').innerText(), `peak ${(peak / 2 ** 20).toFixed(1)} MiB`);
});

test('what cannot follow the selection says so', async (t) => {
  const page = await open(t, file);
  const tags = page.locator('.answers .ww:visible');
  assert.equal(await tags.count(), 0);
  await drag(page, 0.2, 0.4);
  assert.equal(await tags.count(), 4);
  assert.match(await page.locator('#top-of').innerText(), /^% of cpu-clock, 0\.40 s to 0\.80 s$/);
  await page.click('#reset');
  await settle(page);
  assert.equal(await tags.count(), 0);
});

test('tabs by keyboard', async (t) => {
  const page = await open(t, file);
  await page.locator('#tab-overview').focus();
  await page.keyboard.press('ArrowRight');
  await settle(page);
  assert.equal(await page.locator('[role=tab][aria-selected=true]').innerText(), 'Hotspots');
  assert.ok(await page.locator('#tab-hotspots').evaluate((e) => e === document.activeElement));
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('ArrowLeft');
  await settle(page);
  assert.equal(await page.locator('[role=tab][aria-selected=true]').innerText(), 'Threads');
  assert.equal(await page.locator('[role=tabpanel]:visible').count(), 1);
});

test('the samples are folded in a worker', async (t) => {
  const page = await open(t, file);
  assert.equal(page.workers().length, 1);
});

test('a page whose worker is forbidden works on the main thread', async (t) => {
  const page = await open(t, file, {
    hash: '#tab=hotspots',
    init: 'window.Worker = class { constructor() { throw new Error("no") } }',
  });
  assert.deepEqual((await tableRows(page, '#hot')).sort(), hotspots(samples));
});

test('both themes, from 360 to 1920 px, never scroll sideways', async (t) => {
  for (const width of [360, 768, 1440, 1920]) {
    const page = await open(t, file, { width, height: 740, dark: width === 768 });
    for (const theme of ['light', 'dark']) {
      await page.click(`#theme [data-v=${theme}]`);
      for (const tab of ['overview', 'hotspots', 'flame', 'threads']) {
        await page.click(`#tab-${tab}`);
        await settle(page);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(wide <= 0, `${tab} at ${width} px is ${wide} px too wide`);
      }
    }
  }
});

test('the system decides the theme until the reader does', async (t) => {
  const background = (/** @type {import('playwright-core').Page} */ page) =>
    page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const dark = await open(t, file, { dark: true });
  const light = await open(t, file);
  assert.notEqual(await background(dark), await background(light));
  const picture = () => light.locator('#canvas').screenshot();
  await light.click('#tab-flame');
  await settle(light);
  const before = await picture();
  await light.click('#theme [data-v=dark]');
  await settle(light);
  assert.equal(await background(light), await background(dark));
  assert.ok(!before.equals(await picture()), 'the canvas follows');
});
