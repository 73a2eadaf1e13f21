import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

const dir = mkdtempSync(join(tmpdir(), 'vperf-report-'));
const root = fileURLToPath(new URL('../../../..', import.meta.url));

/** The real vp-html: $VP_HTML, or built from this tree. */
const vpHTML = process.env.VP_HTML ?? build();

function build() {
  const out = join(dir, 'vp-html');
  execFileSync('go', ['build', '-buildvcs=false', '-o', out, './cmd/vp-html'], {
    cwd: root,
    stdio: 'inherit',
  });
  return out;
}

/** The browser: $CHROMIUM, or the first one on the PATH. There are no tests without one. */
function findBrowser() {
  if (process.env.CHROMIUM) return process.env.CHROMIUM;
  for (const name of ['chromium', 'chromium-browser', 'google-chrome']) {
    for (const place of (process.env.PATH ?? '').split(':')) {
      const path = join(place, name);
      if (existsSync(path)) return path;
    }
  }
  throw new Error('no browser on the PATH: apt-get install chromium, or name one in $CHROMIUM');
}

const browser = await chromium.launch({
  executablePath: findBrowser(),
  args: [
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    // Its sandbox refuses to start as root.
    ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
  ],
});
after(async () => {
  await browser.close();
  rmSync(dir, { recursive: true });
});

let reports = 0;

/** Runs vp-html and returns the page's file. @param {string | Buffer} input @param {string[]} flags */
export function report(input, flags = []) {
  const file = join(dir, `${++reports}.html`);
  const r = spawnSync(vpHTML, [...flags, '-o', file], { input, maxBuffer: 1 << 28 });
  assert.equal(r.status, 0, String(r.stderr));
  return file;
}

/** Writes a file beside the reports. @param {string} name @param {string} text */
export function scratch(name, text) {
  const file = join(dir, name);
  writeFileSync(file, text);
  return file;
}

/**
 * Opens a report. Whatever a page must never do fails the test: an error or warning on the
 * console, a request, a dialog.
 * @param {import('node:test').TestContext} t @param {string} file
 * @param {{ hash?: string, width?: number, height?: number, script?: boolean, dark?: boolean, init?: string }} [options]
 */
export async function open(t, file, options = {}) {
  const { hash = '', width = 1440, height = 900, script = true, dark = false, init } = options;
  const context = await browser.newContext({
    viewport: { width, height },
    javaScriptEnabled: script,
    colorScheme: dark ? 'dark' : 'light',
  });
  /** @type {string[]} */
  const trouble = [];
  await context.route(/^(https?|wss?|ftp):/, (route) => {
    trouble.push(`request: ${route.request().url()}`);
    return route.abort();
  });
  const page = await context.newPage();
  if (init) await page.addInitScript(init);
  const url = pathToFileURL(file).href;
  page.on('console', (m) => trouble.push(`console ${m.type()}: ${m.text()}`));
  page.on('pageerror', (e) => trouble.push(`error: ${e.stack ?? e.message}`));
  page.on('dialog', (d) => {
    trouble.push(`dialog: ${d.message()}`);
    d.dismiss();
  });
  page.on('request', (r) => {
    if (!r.url().startsWith(url) && !r.url().startsWith('blob:')) trouble.push(`request: ${r.url()}`);
  });
  t.after(async () => {
    await context.close();
    assert.deepEqual(trouble, []);
  });
  await page.goto(url + hash);
  if (script) await ready(page);
  return page;
}

/** Waits until the page has drawn. @param {import('playwright-core').Page} page */
export async function ready(page) {
  await page.waitForFunction(() => 'ready' in document.documentElement.dataset);
  await settle(page);
}

/** Waits until the page shows what its state says. @param {import('playwright-core').Page} page */
export async function settle(page) {
  await page.evaluate(async () => {
    const main = document.querySelector('main');
    for (let quiet = 0; quiet < 2; ) {
      await new Promise((r) => requestAnimationFrame(r));
      quiet = main?.getAttribute('aria-busy') === 'true' ? 0 : quiet + 1;
    }
  });
}

/** Rows of a table as "name | self | inclusive". @param {import('playwright-core').Page} page @param {string} body */
export function tableRows(page, body) {
  return page
    .locator(`${body} tr`)
    .evaluateAll((rows) =>
      rows.map((tr) =>
        [0, 2, 3]
          .map((i) => /** @type {HTMLTableRowElement} */ (tr).cells[i].textContent?.trim() ?? '')
          .join(' | '),
      ),
    );
}

/** The tooltip's text over a point of the flame graph. @param {import('playwright-core').Page} page @param {number} x share of the width @param {number} row */
export async function hover(page, x, row) {
  const box = await page.locator('#canvas').boundingBox();
  assert.ok(box);
  await page.mouse.move(box.x + x * box.width, box.y + row * 20 + 10);
  await settle(page);
  return (await page.locator('#tip').isVisible()) ? page.locator('#tip').innerText() : '';
}

/** Clicks into the flame graph. @param {import('playwright-core').Page} page @param {number} x @param {number} row */
export async function clickFrame(page, x, row) {
  const box = await page.locator('#canvas').boundingBox();
  assert.ok(box);
  await page.mouse.click(box.x + x * box.width, box.y + row * 20 + 10);
  await settle(page);
}

/** Drags over the chart, from and to as shares of its width. @param {import('playwright-core').Page} page @param {number} from @param {number} to */
export async function drag(page, from, to) {
  const box = await page.locator('#sel').boundingBox();
  assert.ok(box);
  const x = (/** @type {number} */ s) => box.x + s * box.width;
  await page.mouse.move(x(from), box.y + 60);
  await page.mouse.down();
  await page.mouse.move(x((from + to) / 2), box.y + 60);
  await page.mouse.move(x(to), box.y + 60);
  await page.mouse.up();
  await settle(page);
}

export { vpHTML };
