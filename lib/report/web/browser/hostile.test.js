import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { clickFrame, hover, open, report, scratch, settle, tableRows, vpHTML } from './open.js';
import { Stream } from './streams.js';

const EVIL = [
  '</script><script>alert(1)</script>',
  '<!--<script>',
  '<img src=x onerror=alert(1)>',
  '<module>',
  'std::map<int, char>::at',
  `"quoted" 'n' \\back\\`,
  'line\u2028sep\u2029end',
  '\u0024{alert(1)}{{.Title}}`',
  'javascript:alert(1)',
  '&lt;b&gt;&amp;',
  '__proto__',
  'constructor',
  'x'.repeat(20_000),
];
/** What cannot be seen is written out. */
const HIDDEN = [
  ['nul\u0000esc\u001b[31mred', String.raw`nul\x00esc\x1b[31mred`],
  ['abc\u202egnp.exe', String.raw`abc\u202egnp.exe`],
  ['zero\u200bwidth\ufeff', String.raw`zero\u200bwidth\ufeff`],
];

/** Every way in which a name can reach the page. */
function evilStream() {
  const s = new Stream({ profile: EVIL[0], clock: 'monotonic' });
  s.add('meta', {
    target: { cmd: ['./a', ...EVIL.slice(0, 6), HIDDEN[0][0]], exit_code: 0 },
    host: { name: EVIL[0], kernel: EVIL[2], cpu: { name: EVIL[1] } },
    callgraph: EVIL[0],
  });
  s.add('event', { id: 1, name: EVIL[0], unit: EVIL[2], kind: 'cpu' });
  s.add('thread', { tid: 1, name: EVIL[2] });
  s.add('thread', { tid: 2, name: EVIL[0] });
  const names = [...EVIL, ...HIDDEN.map(([name]) => name)];
  names.forEach((name, i) => {
    const stack = s.stack([s.frame('root'), s.frame(name, `/lib/${EVIL[2]}`)]);
    s.add('sample', { event: 1, tid: 1 + (i % 2), time_ns: 1000 + i * 1e6, weight: 1000 - i, stack });
  });
  for (const name of [EVIL[0], EVIL[2]]) {
    s.add('metric', {
      name,
      scope: 'all',
      value: 1,
      unit: name,
      formula: name,
      inputs: { [name]: 1 },
      quality: name,
    });
    s.add('metric', { name, scope: 'tid:1', missing: name });
    s.add('counter', { event: name, expression: name, scope: 'all', missing: name });
    s.add('notice', { severity: name, cause: name, text: name, fix: name });
    s.add('finding', {
      rule: name,
      verdict: name,
      severity: 'error',
      evidence: [{ metric: name, value: 1 }],
      advice: name,
      next: name,
    });
    s.add('capability', { name, status: 'denied', detail: name, cause: name, fix: name });
  }
  return s.text();
}

test('names are text wherever they appear', async (t) => {
  const file = report(evilStream(), ['--title', EVIL[0]]);
  const html = readFileSync(file, 'utf8');
  assert.equal(html.match(/<\/script/gi)?.length, 2, 'the data block and the script, nobody else');
  assert.ok(!html.includes('<img src=x'));
  assert.equal(html.match(/<script[\s>]/gi)?.length, 2);
  const page = await open(t, file, { hash: '#tab=hotspots' });
  const rows = (await tableRows(page, '#hot')).map((r) => r.split(' | ')[0]);
  for (const name of [...EVIL, ...HIDDEN.map(([, shown]) => shown)])
    assert.ok(rows.includes(name), name.slice(0, 60));
  for (const tab of ['overview', 'flame', 'threads']) {
    await page.click(`#tab-${tab}`);
    await settle(page);
  }
  assert.equal(await page.locator('img, iframe, object, main script').count(), 0);
  await page.click('#tab-flame');
  await settle(page);
  assert.match(await hover(page, 0.02, 2), /^<\/script><script>alert\(1\)<\/script>\nmodule/);
  await page.selectOption('#who', 't2');
  await page.fill('#find', '<img');
  await settle(page);
  assert.equal(await page.title(), `${EVIL[0]} · profile`);
});

test('long names do not make a narrow page wide', async (t) => {
  const page = await open(t, report(evilStream()), { width: 360, height: 740 });
  for (const tab of ['overview', 'hotspots', 'flame', 'threads']) {
    await page.click(`#tab-${tab}`);
    await settle(page);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(wide <= 0, `${tab} is ${wide} px too wide`);
  }
});

test('folded text of other tools, hostile and broken', async (t) => {
  const folded = Buffer.concat([
    Buffer.from(`root;${EVIL[0]} 1\nroot;${EVIL[1]} 2\nroot;<module> 3\nroot;std::map<int, char>::at 4\n`),
    Buffer.from(`root;"quoted" 'n' \\back\\ 5\nroot;line\u2028sep\u2029end 6\nroot;bad`),
    Buffer.from([0xff, 0xfe]),
    Buffer.from(' 9\n{closure};a 3\r\n;;; 2\nroot;kernel_[k] 7\nroot;[unknown] 8\nroot;last 10'),
  ]);
  const page = await open(t, report(folded), { hash: '#tab=hotspots' });
  const rows = await tableRows(page, '#hot');
  assert.deepEqual(
    rows.map((r) => r.split(' | ')[0]),
    [
      'last',
      'bad\ufffd\ufffd',
      '[unknown]',
      'kernel',
      'line\u2028sep\u2029end',
      `"quoted" 'n' \\back\\`,
      'std::map<int, char>::at',
      '<module>',
      'a',
      '<!--<script>',
      '[no stack]',
      EVIL[0],
      'root',
      '{closure}',
    ],
  );
  assert.match(
    await page.locator('#line').innerText(),
    /^All stacks · whole run · 12 stacks · 60 · no times in the input/,
  );
  assert.ok(!(await page.locator('#run').isVisible()));
  assert.equal(await page.locator('[role=tab]').count(), 3, 'no threads in folded text');
});

test('a parent with weight of its own keeps it', async (t) => {
  const page = await open(t, report('root 75\nroot;child 25\nroot;child;leaf 5\nother 0\n'), {
    hash: '#tab=flame',
  });
  // 75 + 25 + 5: root 105, child 30, leaf 5
  assert.match(
    await hover(page, 0.9, 1),
    /^root\nmodule\n+unknown\n+self\n+75\n+71\.4 % of all\n+total\n+105\n+100\.0 % of all/,
  );
  assert.match(
    await hover(page, 0.2, 2),
    /^child\n[\s\S]*self\n+25\n+23\.8 % of all\n+total\n+30\n+28\.6 % of all/,
  );
  assert.equal(await hover(page, 0.5, 2), '', 'nothing beside the child');
  assert.match(await hover(page, 0.02, 3), /^leaf\n[\s\S]*total\n+5\n+4\.8 %/);
  assert.match(
    await page.locator('#flame-note').innerText(),
    /^4 frames drawn/,
    'a frame without weight is not drawn',
  );
});

/** @param {number} nodes */
function wideAndDeep(nodes) {
  const lines = [];
  for (let i = 0; i < nodes / 20; i++) {
    let s = `r${i % 200}`;
    for (let d = 0; d < 19; d++) s += `;f${i}_${d}`;
    lines.push(`${s} ${1 + (i % 7)}`);
  }
  lines.push(`deep;${Array.from({ length: 3000 }, (_, d) => `d${d}`).join(';')} 5000`);
  return `${lines.join('\n')}\n`;
}

test('200,000 frames and a stack of 3,000', async (t) => {
  const begun = Date.now();
  const page = await open(t, report(wideAndDeep(200_000)), { hash: '#tab=flame', height: 1600 });
  const took = Date.now() - begun;
  assert.ok(took < 5000, `${took} ms`);
  t.diagnostic(`made and opened in ${took} ms`);
  assert.match(await page.locator('#flame-note').innerText(), /deeper rows folded/);
  const height = await page.locator('#canvas').evaluate((c) => c.clientHeight);
  assert.ok(height <= 48 * 20, `${height}`);
  assert.match(await hover(page, 0.02, 47), /^d45[\s\S]*stands for 2\u202f954 more rows/);
  // Down the deep stack, forty rows at a time, and up again by the band of callers.
  for (let i = 0; i < 3; i++) await clickFrame(page, 0.02, i ? 59 : 47);
  assert.match(await hover(page, 0.5, 1), /more callers/);
  await clickFrame(page, 0.5, 1);
  assert.match(await page.locator('#flame-note').innerText(), /view is/);
  await page.click('#unzoom');
  await page.fill('#find', 'd2999');
  await settle(page);
  const share =
    (100 * 5000) / (5000 + Array.from({ length: 10_000 }, (_, i) => 1 + (i % 7)).reduce((a, v) => a + v, 0));
  assert.match(
    await page.locator('#match').innerText(),
    new RegExp(`^${share.toFixed(1)} % matched in 1 frame`),
  );
  await page.click('#tab-hotspots');
  await settle(page);
  assert.match(await page.locator('#hot-count').innerText(), /^193\u202f201 of 193\u202f201 functions/);
  assert.ok((await page.locator('#hot tr').count()) <= 200);
  await page.click('#hot-more');
  assert.ok((await page.locator('#hot tr').count()) > 500);
});

/** @param {(s: Stream) => void} fill @param {object} head */
function small(fill, head = { clock: 'monotonic' }) {
  const s = new Stream({ ...head });
  s.add('event', { id: 1, name: 'cycles', unit: 'cycles', kind: 'cpu' });
  fill(s);
  return s.text();
}

test('one sample', async (t) => {
  const text = small((s) =>
    s.add('sample', { event: 1, tid: 7, time_ns: 5, weight: 3, stack: s.stack([s.frame('f', '/x')]) }),
  );
  const page = await open(t, report(text), { hash: '#tab=flame' });
  assert.match(await page.locator('#line').innerText(), / 1 sample · 3 cycles/);
  assert.ok(!(await page.locator('#run').isVisible()), 'no time passes in one sample');
  assert.match(await hover(page, 0.5, 1), /^f\n[\s\S]*100\.0 %/);
});

test('no time passes between samples; some have no time', async (t) => {
  const still = small((s) => {
    for (let i = 0; i < 9; i++)
      s.add('sample', { event: 1, tid: 7, time_ns: 5, weight: 3, stack: s.stack([s.frame('f')]) });
  });
  await open(t, report(still), { hash: '#tab=flame,range=0-1' });
  const untimed = small((s) => {
    const stack = s.stack([s.frame('f')]);
    for (let i = 0; i < 10; i++)
      s.add('sample', { event: 1, tid: 7, ...(i % 2 && { time_ns: i * 1e9 }), weight: 3, stack });
  });
  const page = await open(t, report(untimed), { hash: '#tab=hotspots,range=1-5' });
  const line = await page.locator('#line').innerText();
  assert.match(line, /2 samples .* 5 without a time left out/);
});

test('records without samples', async (t) => {
  const s = new Stream({ profile: 'p', clock: 'monotonic' });
  s.add('metric', { name: 'cpu_time', scope: 'all', value: 1.5, unit: 's', quality: 'count' });
  s.add('notice', {
    severity: 'error',
    cause: 'no_samples',
    text: 'the target ended before the first sample',
    fix: 'vp-collect -F 999 -- ./app',
  });
  const page = await open(t, report(s.text()), { hash: '#tab=flame' });
  assert.equal(await page.locator('[role=tab]').count(), 1);
  assert.ok(await page.getByText('no_samples: the target ended before the first sample').isVisible());
  assert.ok(await page.getByText('vp-collect -F 999 -- ./app').isVisible());
  assert.ok(!(await page.locator('#controls').isVisible()));
  s.add('rss', { pid: 1, time_ns: 0, bytes: 1e6 }).add('rss', { pid: 1, time_ns: 1e9, bytes: 2e6 });
  const memory = await open(t, report(s.text()));
  assert.match(await memory.locator('#peak').innerText(), /peak 1\.91 MiB/);
});

test('an event without times beside one with times', async (t) => {
  const text = small((s) => {
    s.add('event', { id: 2, name: 'untimed', kind: 'counter' });
    const stack = s.stack([s.frame('f')]);
    for (let i = 0; i < 9; i++) {
      s.add('sample', { event: 1, tid: 7, time_ns: i * 1e8, weight: 3, stack });
      s.add('sample', { event: 2, tid: 7, weight: 3, stack });
    }
  });
  const page = await open(t, report(text), { hash: '#tab=hotspots' });
  assert.match(
    await page.locator('#y').innerText(),
    /^cycles\n+cycles a second/,
    'no CPUs without a counter',
  );
  await page.selectOption('#event', '1');
  await settle(page);
  assert.match(await page.locator('#y').innerText(), /this event has no times/);
  assert.match(await page.locator('#line').innerText(), /9 samples · 27 · this event has no times/);
});

test('two profiles: the first is shown, and it says so', async (t) => {
  const one = (/** @type {string} */ id, /** @type {string} */ f) =>
    small((s) => s.add('sample', { event: 1, tid: 7, time_ns: 5, weight: 3, stack: s.stack([s.frame(f)]) }), {
      profile: id,
      clock: 'x',
    });
  const page = await open(t, report(one('first', 'f') + one('second', 'g')), {
    hash: '#tab=hotspots',
  });
  assert.deepEqual((await tableRows(page, '#hot')).map((r) => r[0]).sort(), ['f']);
  await page.click('#tab-overview');
  assert.ok(await page.getByText('the input holds 2 profiles: this page shows the first, first').isVisible());
});

test('links to what is not there show what is', async (t) => {
  const text = small((s) =>
    s.add('sample', { event: 1, tid: 7, time_ns: 5, weight: 3, stack: s.stack([s.frame('f')]) }),
  );
  const hash =
    '#tab=x,who=t99,event=9,zoom=77,range=5-1,sort=-nothing,theme="><script>,q=/(a+)+$/,mode=rss,kernel=?';
  const page = await open(t, report(text), { hash });
  assert.ok(await page.locator('#overview').isVisible());
});

test('a page that was cut says so and keeps its overview', async (t) => {
  const text = small((s) =>
    s.add('sample', { event: 1, tid: 7, time_ns: 5, weight: 3, stack: s.stack([s.frame('f')]) }),
  );
  const html = readFileSync(report(text), 'utf8');
  const broken = html.replace(/(id="data">.{200}).{40}/, '$1');
  assert.notEqual(html, broken);
  const page = await open(t, scratch('broken.html', broken));
  assert.match(await page.locator('#trouble').innerText(), /cannot be read/);
  assert.ok(await page.locator('#overview').isVisible());
});

test('a worker that breaks is told, and the page goes on without it', async (t) => {
  const text = small((s) =>
    s.add('sample', { event: 1, tid: 7, time_ns: 5, weight: 3, stack: s.stack([s.frame('f')]) }),
  );
  const init = `const Real = Worker;
    window.Worker = class extends Real { constructor(url) { super(url); window.last = this; } };`;
  const page = await open(t, report(text), { init });
  await page.evaluate(() =>
    /** @type {any} */ (window).last.onerror(new ErrorEvent('error', { message: 'out of memory' })),
  );
  await page.click('#tab-flame');
  await settle(page);
  assert.match(await page.locator('#trouble').innerText(), /can no longer be read: Error: out of memory/);
  await page.click('#tab-overview');
  await settle(page);
  assert.ok(await page.locator('#overview').isVisible());
});

test('no input, no page', () => {
  for (const input of ['', '\n\n', '{"type":"stream","schema":1,"by":"x"}\n']) {
    const file = scratch('none.html', '').replace('none.html', `none${input.length}.html`);
    const r = spawnSync(vpHTML, ['-o', file], { input });
    assert.equal(r.status, 1);
    assert.match(String(r.stderr), /the input holds nothing to report/);
    assert.ok(!existsSync(file));
  }
});
