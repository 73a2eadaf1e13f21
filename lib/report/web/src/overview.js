import { $, el } from './dom.js';
import { axisTime } from './format.js';
import { fill, hotRow } from './tables.js';
import { hotRows } from './views.js';

const TOP_ROWS = 20;

/**
 * The overview is plain HTML that needs no script; this replaces the parts that can follow
 * the scope, and says of the others that they do not.
 */
export class Overview {
  /** @param {import('./app.js').App} app */
  constructor(app) {
    this.app = app;
    this.metrics = document.getElementById('metrics');
    this.wholeRun = this.metrics ? [...this.metrics.children] : [];
    for (const cmd of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll('.cmd')))
      addCopy(cmd);
  }

  /** @param {import('./fold.js').Answer} answer */
  paint(answer) {
    const { threads, range } = this.app.scope;
    $('overview').classList.toggle('scoped', threads !== null || range !== null);
    this.paintTop(answer);
    this.paintMetrics();
  }

  /** @param {import('./fold.js').Answer} answer */
  paintTop({ hot, weight }) {
    if (!hot) return;
    const { app } = this;
    const rows = hotRows(app, hot, false, '-self').slice(0, TOP_ROWS);
    const row = (/** @type {import('./tables.js').HotRow} */ r) => {
      const [name, module, self, total] = hotRow(r, weight, rows[0].self, null, false).cells;
      return { cells: [name, module, self, { cls: 'n q', text: total.text }] };
    };
    fill('top', null, rows, row, false);
    $('top-of').replaceChildren(`% of ${app.event.name}, ${this.scopeText}`);
  }

  get scopeText() {
    const { range, threads } = this.app.scope;
    const h = this.app.header;
    const span = (h.spanTicks * h.tickNS) / 1e9;
    const s = (/** @type {number} */ t) => axisTime((Math.min(t, h.spanTicks) * h.tickNS) / 1e9, span);
    const when = range ? `${s(range.from)} s to ${s(range.to)} s` : 'whole run';
    return threads ? `${this.app.scopeName}, ${when}` : when;
  }

  /** Counters are counted once over the run: they can follow threads, not the time. */
  paintMetrics() {
    if (!this.metrics) return;
    const { app } = this;
    const { threads } = app.scope;
    const chosen = threads && app.entries.find((e) => e.value === app.state.who);
    const scope = !chosen
      ? ''
      : app.state.group === '1'
        ? `group:${chosen.name}`
        : `tid:${app.header.threads[chosen.threads[0]].tid}`;
    const rows = app.header.metrics.filter((m) => m.scope === scope);
    $('metric-scope').textContent = rows.length ? `${app.scopeName}, whole run` : 'all threads, whole run';
    this.metrics.replaceChildren(...(rows.length ? rows.map(metricRow) : this.wholeRun));
  }
}

/** @param {import('./unpack.js').Metric} m */
function metricRow(m) {
  const missing = m.quality === 'missing';
  const tr = el('tr', { title: m.why, class: missing ? 'q' : '' });
  if (missing) tr.append(el('td', { colspan: '3' }, el('b', {}, m.value), `: ${m.label}`));
  else tr.append(el('td', {}, m.label), el('td', { class: 'n' }, m.value), el('td', { class: 'u' }, m.unit));
  const badge = el('td', { class: 'b' });
  if (m.quality) badge.append(el('i', { class: `bd ${m.quality}` }, m.quality));
  tr.append(badge);
  return tr;
}

/** A button that copies a command. @param {HTMLElement} cmd */
function addCopy(cmd) {
  const b = el('button', {}, 'Copy');
  b.addEventListener('click', async () => {
    const text = cmd.querySelector('code')?.textContent ?? '';
    try {
      await navigator.clipboard.writeText(text);
      b.textContent = 'Copied';
    } catch {
      // Not allowed on file:// everywhere: leave the text selected for the keyboard.
      const code = cmd.querySelector('code');
      if (code) getSelection()?.selectAllChildren(code);
      b.textContent = 'Selected';
    }
    setTimeout(() => {
      b.textContent = 'Copy';
    }, 1200);
  });
  cmd.append(b);
}
