import { legend, moduleColours } from './colours.js';
import { $, el, Palette, press, sayTrouble } from './dom.js';
import { Flame } from './flame.js';
import { axisTime, grouped, percentSign, weightText } from './format.js';
import { Overview } from './overview.js';
import { RunChart } from './runchart.js';
import { bucketCount, scaleToMean, smooth } from './scale.js';
import { DEFAULTS, parseRange, parseState, rangeText, stateText } from './state.js';
import { cpuSeconds, entries } from './threads.js';
import { matcher } from './tree.js';
import { emptyRows, paintFlame, paintHotspots, paintThreads } from './views.js';

/**
 * @typedef {import('./client.js').Client} Client
 * @typedef {import('./client.js').Shape} Shape
 * @typedef {import('./fold.js').Answer} Answer
 * @typedef {import('./fold.js').Question} Question
 * @typedef {import('./state.js').State} State
 * @typedef {import('./threads.js').Entry} Entry
 */

const TABS = /** @type {const} */ ([
  ['overview', 'Overview'],
  ['hotspots', 'Hotspots'],
  ['flame', 'Flame graph'],
  ['threads', 'Threads'],
]);

/** The page: one state, and the views that follow it. */
export class App {
  palette = new Palette();
  /** @type {State} */
  state = { ...DEFAULTS };
  /** @type {Answer | null} of the current scope */
  answer = null;
  /** @type {{ question: Question, answer: Answer } | null} what the views show */
  shown = null;
  /** @type {Answer | null} of the whole run and all threads of the event */
  whole = null;
  /** @type {Entry[]} */
  entries = [];
  /** @type {{ q: string, hit: Uint8Array | null, error: string } | null} */
  searched = null;
  /** @type {import('./runchart.js').Utilisation | null} of the scope */
  utilisation = null;
  dragging = false;
  step = false; // the next address is a new entry of the history
  written = '#'; // the state in the address
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  writing;
  frame = 0;
  waiting = 0; // refreshes under way
  main = /** @type {HTMLElement} */ (document.querySelector('main'));

  /** @param {Client} client @param {Shape} shape */
  constructor(client, shape) {
    this.client = client;
    this.shape = shape;
    this.header = shape.header;
    const h = this.header;
    this.chart = new RunChart(h.spanTicks, h.tickNS, this.palette, (range, settled) => {
      this.dragging = !settled;
      this.set({ range: rangeText(range, h.tickNS), zoom: '' }, true);
    });
    const canvas = /** @type {HTMLCanvasElement} */ ($('canvas'));
    this.flame = new Flame(
      canvas,
      this.palette,
      (node) => this.set({ zoom: node ? String(node) : '' }, true),
      (text) => {
        $('frame').textContent = text;
      },
    );
    this.colours = moduleColours(shape);
    this.functionRows = emptyRows(shape, this.colours, false);
    this.moduleRows = emptyRows(shape, this.colours, true);
    this.overview = new Overview(this);
    this.rss = memoryOf(shape);
    this.tabs = TABS.filter(([id]) => this.has(id));
  }

  /** Only tabs that show something are offered. @param {string} tab */
  has(tab) {
    const h = this.header;
    if (tab === 'overview') return true;
    if (!h.events.length) return false;
    return tab !== 'threads' || h.threads.length > 1 || h.threads[0].tid !== null;
  }

  get event() {
    return this.header.events[Number(this.state.event)] ?? this.header.events[0];
  }

  async start() {
    this.wire();
    this.state = this.valid(parseState(location.hash));
    this.written = stateText(this.state);
    await this.busily(() => this.follow(null));
  }

  /** A state that this page can show, whatever the link said. @param {State} s @returns {State} */
  valid(s) {
    const h = this.header;
    const out = { ...s };
    if (!this.tabs.some(([id]) => id === s.tab)) out.tab = DEFAULTS.tab;
    if (!h.events[Number(s.event)]) out.event = DEFAULTS.event;
    out.range = rangeText(parseRange(s.range, h.tickNS, h.spanTicks), h.tickNS);
    const nodes = this.shape.trees[out.kernel === 'full' ? 'full' : 'boundary'].fn.length;
    const zoom = Number(s.zoom);
    out.zoom = Number.isInteger(zoom) && zoom > 0 && zoom < nodes ? String(zoom) : '';
    if (!h.rss.length && out.mode === 'rss') out.mode = '';
    if (!h.events.some((e) => e.timed) && h.rss.length) out.mode = 'rss';
    return out;
  }

  /**
   * Changes the state and what follows from it.
   * @param {Partial<State>} change @param {boolean} [push] whether "back" should lead to the state before
   */
  set(change, push = false) {
    const before = this.state;
    this.state = this.valid({ ...before, ...change });
    this.step ||= push;
    clearTimeout(this.writing);
    // What goes on, a drag or typing, is one step of history, written when it is done:
    // browsers refuse hundreds of changes of the address in a row.
    if (!this.dragging) this.writing = setTimeout(() => this.writeAddress(), push ? 0 : 300);
    return this.refresh(before);
  }

  /** Puts the state into the address. */
  writeAddress() {
    const text = stateText(this.state);
    const url = text === '#' ? location.pathname + location.search : text;
    if (this.step && text !== this.written) history.pushState(null, '', url);
    else history.replaceState(null, '', url);
    this.written = text;
    this.step = false;
  }

  wire() {
    const choose = (/** @type {string} */ id, /** @type {keyof State} */ key, push = false) => {
      $(id).addEventListener('click', (e) => {
        const v = e.target instanceof HTMLElement ? e.target.dataset.v : undefined;
        if (v !== undefined) this.set({ [key]: v }, push);
      });
    };
    choose('theme', 'theme');
    choose('mode', 'mode');
    choose('by', 'by');
    choose('dir', 'dir');
    const change = (/** @type {string} */ id, /** @type {(e: HTMLInputElement) => Partial<State>} */ to) => {
      $(id).addEventListener('change', (e) => this.set(to(/** @type {HTMLInputElement} */ (e.target)), true));
    };
    change('who', (e) => ({ who: e.value, zoom: '' }));
    change('group', (e) => ({ group: e.checked ? '1' : '', who: '', zoom: '' }));
    change('event', (e) => ({ event: e.value, zoom: '' }));
    change('kernel', (e) => ({ kernel: e.value, zoom: '' }));
    const input = (/** @type {string} */ id, /** @type {'q' | 'filter'} */ key) => {
      $(id).addEventListener('input', (e) =>
        this.set({ [key]: /** @type {HTMLInputElement} */ (e.target).value }),
      );
    };
    input('find', 'q');
    input('filter', 'filter');
    $('reset').addEventListener('click', () => this.chart.set(null, true));
    $('unzoom').addEventListener('click', () => this.set({ zoom: '' }, true));
    const restore = () => {
      const before = this.state;
      this.state = this.valid(parseState(location.hash));
      this.written = stateText(this.state);
      this.refresh(before);
    };
    addEventListener('popstate', restore);
    // From a function to where it is called: its name is searched in the flame graph.
    this.main.addEventListener('click', (e) => {
      const name = e.target instanceof Element ? e.target.closest('button')?.dataset.function : undefined;
      if (name) this.set({ tab: 'flame', q: name }, true);
    });
    $('thread-rows').addEventListener('click', (e) => {
      if (!(e.target instanceof HTMLButtonElement)) return;
      const who = e.target.closest('tr')?.dataset.value ?? '';
      this.set({ who: who === this.state.who ? '' : who, zoom: '' }, true);
    });
    new ResizeObserver(() => this.paint()).observe(document.body);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.recolour());
    this.wireTabs();
    this.wireHeader();
  }

  wireTabs() {
    $('tabs').append(
      ...this.tabs.map(([id, text]) => {
        const b = el('button', { role: 'tab', id: `tab-${id}`, 'aria-controls': id }, text);
        b.addEventListener('click', () => this.set({ tab: id }, true));
        return b;
      }),
    );
    $('tabs').addEventListener('keydown', (e) => {
      const by = { ArrowLeft: -1, ArrowRight: 1 }[e.key];
      if (!by) return;
      const n = this.tabs.length;
      const [id] = this.tabs[(this.tabs.findIndex(([t]) => t === this.state.tab) + by + n) % n];
      this.set({ tab: id }, true);
      $(`tab-${id}`).focus();
    });
  }

  /** Leaves out the controls that would have nothing to choose. */
  wireHeader() {
    const h = this.header;
    const timed = h.events.some((e) => e.timed) && h.spanTicks > 0;
    $('controls').hidden = !h.events.length && !h.rss.length;
    $('run').hidden = !timed && !(h.rss.length && h.spanTicks > 0);
    $('mode').hidden = !(timed && h.rss.length);
    $('who-label').hidden = !this.has('threads');
    $('group-label').hidden = !this.has('threads') || h.threads.length < 2;
    $('event-label').hidden = !h.events.length;
    $('event').hidden = h.events.length < 2;
    $('only-event').textContent = h.events.length === 1 ? eventName(h.events[0]) : '';
    $('kernel-label').hidden = !this.shape.fnKind.subarray(0, -1).includes(1);
    $('event').append(...h.events.map((e, i) => el('option', { value: String(i) }, eventName(e))));
    $('legend').append(...legend(this.shape, this.colours));
  }

  /** @returns {import('./fold.js').Scope} */
  get scope() {
    const h = this.header;
    const chosen = this.entries.find((e) => e.value === this.state.who);
    return {
      event: Number(this.state.event),
      threads: chosen ? chosen.threads : null,
      range: parseRange(this.state.range, h.tickNS, h.spanTicks),
    };
  }

  /** @returns {Question} */
  get question() {
    const { tab, by, kernel } = this.state;
    /** @type {Question} */
    const q = { scope: this.scope };
    if (tab === 'flame') q.tree = kernel === 'full' ? 'full' : 'boundary';
    if (tab === 'hotspots') q.hot = by === 'module' ? 'module' : 'function';
    if (tab === 'overview') q.hot = 'function';
    return q;
  }

  /** Follows a change of the state. It never rejects: nobody waits for it. @param {State} before */
  async refresh(before) {
    try {
      await this.busily(() => this.follow(before));
      sayTrouble('');
    } catch (err) {
      sayTrouble(`The samples can no longer be read: ${err}. Reloading the page may help.`);
    }
  }

  /** @param {() => Promise<void>} work */
  async busily(work) {
    this.waiting++;
    this.sayBusy();
    try {
      await work();
    } finally {
      this.waiting--;
      this.sayBusy();
    }
  }

  /** Whether what is shown is about to change. */
  sayBusy() {
    const busy = String(this.waiting > 0 || this.frame > 0);
    if (this.main.getAttribute('aria-busy') !== busy) this.main.setAttribute('aria-busy', busy);
  }

  /** @param {State | null} before null at the start */
  async follow(before) {
    const s = this.state;
    this.applyTheme();
    if (this.header.events.length) {
      if (!before || before.event !== s.event) {
        const scope = { event: Number(s.event), threads: null, range: null };
        this.whole = await this.client.request({ id: 0, ask: { scope } });
      }
      if (!before || before.event !== s.event || before.group !== s.group) this.listThreads();
    }
    this.chart.range = this.scope.range;
    if (!before || before.event !== s.event || before.who !== s.who || before.group !== s.group)
      await this.loadCurve();
    this.controls();
    this.chart.place();
    const question = this.question;
    if (this.header.events.length && JSON.stringify(question) !== JSON.stringify(this.shown?.question)) {
      const answer = await this.client.ask(question);
      if (!answer) return; // a newer question is on its way
      this.shown = { question, answer };
    }
    this.paint();
  }

  applyTheme() {
    const root = document.documentElement;
    if ((root.dataset.theme ?? '') === this.state.theme) return;
    if (this.state.theme) root.dataset.theme = this.state.theme;
    else delete root.dataset.theme;
    this.palette.forget();
  }

  recolour() {
    this.palette.forget();
    this.paint();
  }

  listThreads() {
    const w = /** @type {Answer} */ (this.whole);
    this.entries = entries(this.header.threads, w.threadWeight, w.threadSamples, this.state.group === '1');
    const option = (/** @type {Entry} */ e) => {
      const tid = this.header.threads[e.threads[0]].tid;
      const id = this.state.group === '1' || tid === null ? '' : ` (${tid})`;
      return el('option', { value: e.value }, `${percentSign(e.weight, w.weight)}  ${e.label}${id}`);
    };
    const all = el('option', { value: '' }, `all threads (${this.header.threads.length})`);
    $('who').replaceChildren(all, ...this.entries.map(option));
  }

  /** Busy CPUs over the run for the scope's threads. */
  async loadCurve() {
    const h = this.header;
    if (!this.event?.timed || h.spanTicks <= 0) {
      this.utilisation = null;
      return;
    }
    const { scope } = this;
    const chosen = this.entries.find((e) => e.value === this.state.who);
    const timed = Math.min(this.event.timed, chosen?.samples ?? this.event.timed);
    const curve = await this.client.curve(scope, bucketCount($('sel').clientWidth || 960, timed));
    const shape = smooth(curve.weight, 2);
    const seconds = (h.spanTicks * h.tickNS) / 1e9;
    const cpu =
      this.event.kind === 'cpu'
        ? cpuSeconds(h.threads, scope.threads, this.event, chosen?.weight ?? 0)
        : null;
    const members = scope.threads?.length ?? h.threads.length;
    const cap = Math.min(members, h.ncpu || members);
    if (cpu !== null) {
      const mean = Math.min(cap, cpu / seconds);
      this.utilisation = {
        values: scaleToMean(shape, mean, cap),
        title: 'Busy CPUs',
        note: '≈ estimate',
        cap,
        mean,
      };
    } else {
      const perBucket = seconds / shape.length;
      const values = shape.map((v) => v / perBucket);
      const note =
        this.event.unit && this.event.unit !== 'count' ? `${this.event.unit} a second` : 'weight a second';
      this.utilisation = { values, title: this.event.name, note, cap: 0, mean: curve.sum / seconds };
    }
  }

  /** What the chart shows in place of the utilisation. */
  get memory() {
    return this.state.mode === 'rss' ? this.rss : null;
  }

  /** The state of everything that can be pressed or typed into. */
  controls() {
    const s = this.state;
    press($('theme'), s.theme);
    press($('mode'), s.mode);
    press($('by'), s.by);
    press($('dir'), s.dir);
    const put = (/** @type {string} */ id, /** @type {string} */ v) => {
      const e = /** @type {HTMLInputElement} */ ($(id));
      if (e.value !== v) e.value = v;
    };
    put('who', this.entries.some((e) => e.value === s.who) ? s.who : '');
    put('event', s.event);
    put('kernel', s.kernel);
    put('find', s.q);
    put('filter', s.filter);
    /** @type {HTMLInputElement} */ ($('group')).checked = s.group === '1';
    $('reset').hidden = !s.range;
    for (const [id] of this.tabs) {
      const on = id === s.tab;
      $(id).hidden = !on;
      $(id).setAttribute('role', 'tabpanel');
      $(id).setAttribute('aria-labelledby', `tab-${id}`);
      const t = $(`tab-${id}`);
      t.setAttribute('aria-selected', String(on));
      t.tabIndex = on ? 0 : -1;
    }
  }

  /** Draws what the last answer says; called once a frame at most. */
  paint() {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.sayBusy();
      if (!$('run').hidden) this.chart.show(this.utilisation, this.memory);
      if (!this.shown) return;
      const { question, answer } = this.shown;
      $('line').replaceChildren(...this.scopeLine(question.scope, answer));
      if (this.state.tab === 'hotspots') paintHotspots(this, answer, question.hot === 'module');
      if (this.state.tab === 'flame' && answer.total)
        paintFlame(this, answer.total, question.tree ?? 'boundary');
      if (this.state.tab === 'threads') paintThreads(this, answer);
      if (this.state.tab === 'overview') this.overview.paint(answer);
    });
  }

  /**
   * What is selected, in words.
   * @param {import('./fold.js').Scope} scope @param {Answer} a @returns {(Node | string)[]}
   */
  scopeLine({ range, threads }, a) {
    const h = this.header;
    const parts = [];
    if (range) {
      const span = (h.spanTicks * h.tickNS) / 1e9;
      const s = (/** @type {number} */ t) => axisTime((Math.min(t, h.spanTicks) * h.tickNS) / 1e9, span);
      parts.push(
        `${s(range.from)} s to ${s(range.to)} s`,
        `${percentSign(Math.min(range.to, h.spanTicks) - range.from, h.spanTicks)} of the run`,
      );
    } else {
      parts.push('whole run');
    }
    if (threads || range) parts.push(`${percentSign(a.weight, this.event.total)} of all ${this.event.name}`);
    const rows =
      h.threads.length === 1 && h.threads[0].tid === null && !this.event.timed ? 'stack' : 'sample';
    parts.push(
      `${grouped(a.samples)} ${rows}${a.samples === 1 ? '' : 's'}`,
      weightText(a.weight, this.event.unit),
    );
    const untimed = this.event.samples - this.event.timed;
    if (!this.event.timed)
      parts.push(h.events.some((e) => e.timed) ? 'this event has no times' : 'no times in the input');
    else if (untimed) parts.push(`${grouped(untimed)} without a time${range ? ' left out' : ''}`);
    return [el('b', {}, this.scopeName), ` · ${parts.join(' · ')}`];
  }

  get scopeName() {
    const chosen = this.entries.find((e) => e.value === this.state.who);
    if (!chosen) return this.has('threads') ? 'All threads' : 'All stacks';
    return this.state.group === '1'
      ? `${chosen.name}, ${chosen.threads.length} ${chosen.threads.length === 1 ? 'thread' : 'threads'}`
      : chosen.name;
  }

  /** Which functions the search matches. @returns {{ hit: Uint8Array | null, error: string }} */
  search() {
    const { q } = this.state;
    if (this.searched?.q === q) return this.searched;
    let hit = null;
    let error = '';
    try {
      const matches = matcher(q);
      if (matches) hit = Uint8Array.from(this.header.functions, (name, i) => Number(i > 0 && matches(name)));
    } catch {
      error = 'not a regular expression';
    }
    this.searched = { q, hit, error };
    return this.searched;
  }
}

/** The readings of memory use, the target's first. @param {Shape} shape @returns {import('./runchart.js').Memory | null} */
function memoryOf({ header, rss }) {
  if (!rss.length) return null;
  const own = Math.max(
    0,
    header.rss.findIndex((r) => r.target),
  );
  const series = [rss[own], ...rss.filter((_, i) => i !== own)];
  return { series, peak: series[0].bytes.reduce((a, v) => Math.max(a, v), 0) };
}

/** @param {import('./unpack.js').EventInfo} e */
function eventName(e) {
  return ['', 'count', e.name].includes(e.unit) ? e.name : `${e.name} (${e.unit})`;
}
