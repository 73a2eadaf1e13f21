import { $, el, surface } from './dom.js';
import { axisTime, bytes, scaled, significant } from './format.js';
import { extremes, roundUp, ticks } from './scale.js';

const HEIGHT = 88;
const TOP = 12; // px above the highest value

/**
 * @typedef {{ from: number, to: number }} Range
 *
 * @typedef {object} Utilisation
 * @property {Float64Array} values per bucket
 * @property {string} title
 * @property {string} note
 * @property {number} cap most that the scope could use; 0 where there is no such bound
 * @property {number} mean
 *
 * @typedef {object} Memory
 * @property {{ time: Uint32Array, bytes: Float64Array }[]} series the target's first
 * @property {number} peak of the first
 */

/** The chart over the run and the range that is selected on it. */
export class RunChart {
  /** @type {Range | null} */
  range = null;
  /** @type {Utilisation | null} */
  utilisation = null;
  /** @type {Memory | null} */
  memory = null;
  drawn = '';

  /**
   * @param {number} spanTicks @param {number} tickNS @param {import('./dom.js').Palette} palette
   * @param {(range: Range | null, settled: boolean) => void} onRange
   */
  constructor(spanTicks, tickNS, palette, onRange) {
    this.span = spanTicks;
    this.tickNS = tickNS;
    this.palette = palette;
    this.onRange = onRange;
    this.box = $('sel');
    this.canvas = /** @type {HTMLCanvasElement} */ ($('plot'));
    const part = (/** @type {string} */ cls, i = 0) =>
      /** @type {HTMLElement} */ (this.box.querySelectorAll(cls)[i]);
    this.before = part('.o');
    this.after = part('.o', 1);
    this.window = part('.w');
    this.left = part('.h');
    this.right = part('.h', 1);
    this.box.addEventListener('pointerdown', (e) => this.grab(e));
    this.box.addEventListener('dblclick', () => this.set(null, true));
    for (const h of [this.left, this.right]) h.addEventListener('keydown', (e) => this.key(e, h));
  }

  /** Seconds of a tick. @param {number} t */
  seconds(t) {
    return (t * this.tickNS) / 1e9;
  }

  /**
   * Shows a curve: memory if there is any, else the utilisation. It is drawn only when
   * something about it changed: a drag moves the borders alone.
   * @param {Utilisation | null} utilisation @param {Memory | null} memory
   */
  show(utilisation, memory) {
    const look = `${this.box.clientWidth} ${devicePixelRatio} ${this.palette.get('on-cpu')}`;
    if (this.drawn && this.utilisation === utilisation && this.memory === memory && this.drawn === look)
      return;
    this.utilisation = utilisation;
    this.memory = memory;
    this.drawn = look;
    const { g, width } = surface(this.canvas, HEIGHT);
    if (!width) return;
    if (memory) this.drawMemory(g, width, memory);
    else if (utilisation) this.drawUtilisation(g, width, utilisation);
    else this.drawNothing();
    this.drawAxis(width);
    this.place();
  }

  /** @param {CanvasRenderingContext2D} g @param {number} width @param {Utilisation} u */
  drawUtilisation(g, width, u) {
    const peak = u.values.reduce((a, v) => Math.max(a, v), 0);
    const top = u.cap ? Math.min(u.cap, roundUp(Math.max(peak, u.cap / 100))) : roundUp(peak);
    const text = (/** @type {number} */ v) => (u.cap ? significant(v) : scaled(v, 1e4));
    this.scaleLabels(u.title, u.note, [top, top / 2, 0].map(text));
    const y = (/** @type {number} */ v) => HEIGHT - (v / top) * (HEIGHT - TOP);
    this.grid(g, width, [y(top), y(top / 2)]);
    const step = width / u.values.length;
    /** @type {[number, number][]} */
    const line = [];
    u.values.forEach((v, i) => {
      line.push([(i + 0.5) * step, y(v)]);
    });
    line.unshift([0, line[0][1]]);
    line.push([width, line[line.length - 1][1]]);
    this.area(g, line, 'on-cpu');
    this.mark(y(u.mean), `mean ${text(u.mean)}`);
  }

  drawNothing() {
    this.scaleLabels('No curve', 'this event has no times', []);
    $('peak').replaceChildren();
  }

  /** @param {CanvasRenderingContext2D} g @param {number} width @param {Memory} m */
  drawMemory(g, width, m) {
    const top = m.series.reduce((a, s) => s.bytes.reduce((b, v) => Math.max(b, v), a), 1);
    this.scaleLabels('RSS', 'measured, whole process', [bytes(top), '', '0']);
    const y = (/** @type {number} */ v) => HEIGHT - (v / top) * (HEIGHT - TOP);
    this.grid(g, width, [y(top / 2)]);
    m.series.forEach((s, i) => {
      const line = extremes(s.time, s.bytes, this.span || 1, width).map(
        (p) => /** @type {[number, number]} */ ([p.x, y(p.v)]),
      );
      if (i === 0) this.area(g, line, 'rss');
      else this.stroke(g, line, 'line-2');
    });
    g.save();
    g.setLineDash([4, 4]);
    this.stroke(
      g,
      [
        [0, y(m.peak)],
        [width, y(m.peak)],
      ],
      'rss',
    );
    g.restore();
    this.mark(y(m.peak), `peak ${bytes(m.peak)}`);
  }

  /** @param {string} title @param {string} note @param {string[]} labels top, middle, bottom */
  scaleLabels(title, note, labels) {
    const at = [TOP - 6, (HEIGHT + TOP) / 2 - 6, HEIGHT - 12];
    const marks = labels.map((text, i) => {
      const mark = el('i', {}, text);
      mark.style.top = `${at[i]}px`;
      return mark;
    });
    $('y').replaceChildren(el('b', {}, title), note, ...marks);
    this.canvas.setAttribute('aria-label', `${title} over the run, ${note}`);
  }

  /** @param {number} y @param {string} text */
  mark(y, text) {
    const s = el('span', {}, text);
    s.style.top = `${Math.min(HEIGHT - 12, Math.max(0, y - 6))}px`;
    $('peak').replaceChildren(s);
  }

  /** @param {CanvasRenderingContext2D} g @param {number} width @param {number[]} lines */
  grid(g, width, lines) {
    g.fillStyle = this.palette.get('line');
    for (const y of [...lines, HEIGHT - 1]) g.fillRect(0, Math.round(y), width, 1);
  }

  /** @param {CanvasRenderingContext2D} g @param {[number, number][]} points @param {string} token */
  area(g, points, token) {
    if (!points.length) return;
    g.fillStyle = this.palette.get(token);
    g.globalAlpha = 0.24;
    g.beginPath();
    g.moveTo(points[0][0], HEIGHT);
    for (const [x, y] of points) g.lineTo(x, y);
    g.lineTo(points[points.length - 1][0], HEIGHT);
    g.fill();
    g.globalAlpha = 1;
    this.stroke(g, points, token);
  }

  /** @param {CanvasRenderingContext2D} g @param {[number, number][]} points @param {string} token */
  stroke(g, points, token) {
    g.strokeStyle = this.palette.get(token);
    g.lineWidth = 1.25;
    g.lineJoin = 'round';
    g.beginPath();
    for (const [x, y] of points) g.lineTo(x, y);
    g.stroke();
  }

  /** @param {number} width */
  drawAxis(width) {
    const span = this.seconds(this.span);
    const list = ticks(span, Math.min(10, Math.floor(width / 72)));
    const decimals = list.length > 1 ? Math.max(0, -Math.floor(Math.log10(list[1]) + 1e-9)) : 0;
    $('axis').replaceChildren(
      ...list.map((t, i) => {
        const s = el('span', {}, i ? t.toFixed(decimals) : '0 s');
        s.style.left = `${(t / span) * 100}%`;
        if (t / span > 0.96) s.style.transform = 'translateX(-100%)'; // it would leave a narrow page
        return s;
      }),
    );
  }

  /** Puts the borders where the range is. */
  place() {
    const n = this.span + 1;
    const from = this.range ? this.range.from : 0;
    const to = this.range ? this.range.to : n;
    const pct = (/** @type {number} */ t) => `${(t / n) * 100}%`;
    this.box.classList.toggle('set', this.range !== null);
    this.before.style.left = '0';
    this.before.style.width = pct(from);
    this.after.style.left = pct(to);
    this.after.style.right = '0';
    this.window.style.left = pct(from);
    this.window.style.width = pct(to - from);
    this.window.style.borderTopColor = this.range ? '' : 'transparent';
    this.left.style.left = pct(from);
    this.right.style.left = pct(to);
    const span = this.seconds(this.span);
    for (const [h, t] of /** @type {[HTMLElement, number][]} */ ([
      [this.left, from],
      [this.right, Math.min(to, this.span)],
    ])) {
      h.setAttribute('aria-valuemin', '0');
      h.setAttribute('aria-valuemax', String(span));
      h.setAttribute('aria-valuenow', String(this.seconds(t)));
      h.setAttribute('aria-valuetext', `${axisTime(this.seconds(t), span)} s`);
    }
  }

  /** @param {Range | null} range @param {boolean} settled */
  set(range, settled) {
    this.range = range && (range.from > 0 || range.to <= this.span) ? range : null;
    this.place();
    this.onRange(this.range, settled);
  }

  /** The tick at a client x. @param {number} x */
  tickAt(x) {
    const r = this.box.getBoundingClientRect();
    const t = Math.round(((x - r.left) / r.width) * (this.span + 1));
    return Math.max(0, Math.min(this.span + 1, t));
  }

  /** @param {PointerEvent} e */
  grab(e) {
    if (e.button !== 0) return;
    const from = this.range?.from ?? 0;
    const to = this.range?.to ?? this.span + 1;
    const start = this.tickAt(e.clientX);
    /** @type {(t: number) => Range} */
    let move;
    if (e.target === this.left) move = (t) => order(t, to);
    else if (e.target === this.right) move = (t) => order(from, t);
    else if (this.range && e.target === this.window) move = (t) => this.shift(from, to, t - start);
    else move = (t) => order(start, t);
    const slack = e.target === this.left || e.target === this.right ? 0 : 3;
    let moved = false;
    const drag = (/** @type {PointerEvent} */ m) => {
      if (!moved && Math.abs(m.clientX - e.clientX) < slack) return;
      moved = true;
      const r = move(this.tickAt(m.clientX));
      if (r.from < r.to) this.set(r, false);
    };
    const drop = () => {
      this.box.removeEventListener('pointermove', drag);
      this.box.removeEventListener('pointerup', drop);
      this.box.removeEventListener('pointercancel', drop);
      if (moved) this.set(this.range, true);
    };
    this.box.setPointerCapture(e.pointerId);
    this.box.addEventListener('pointermove', drag);
    this.box.addEventListener('pointerup', drop);
    this.box.addEventListener('pointercancel', drop);
  }

  /** @param {number} from @param {number} to @param {number} by */
  shift(from, to, by) {
    const d = Math.max(-from, Math.min(this.span + 1 - to, by));
    return { from: from + d, to: to + d };
  }

  /** @param {KeyboardEvent} e @param {HTMLElement} h */
  key(e, h) {
    const n = this.span + 1;
    const step = Math.max(1, Math.round(n / (e.shiftKey ? 10 : 100)));
    const by = { ArrowLeft: -step, ArrowDown: -step, ArrowRight: step, ArrowUp: step, Home: -n, End: n }[
      e.key
    ];
    if (e.key === 'Escape') {
      this.set(null, true);
    } else if (by !== undefined) {
      const { from, to } = this.range ?? { from: 0, to: n };
      const clamp = (/** @type {number} */ t, /** @type {number} */ lo, /** @type {number} */ hi) =>
        Math.max(lo, Math.min(hi, t));
      const range =
        h === this.left
          ? { from: clamp(from + by, 0, to - 1), to }
          : { from, to: clamp(to + by, from + 1, n) };
      this.set(range, true);
    } else {
      return;
    }
    e.preventDefault();
  }
}

/** @param {number} a @param {number} b @returns {Range} */
function order(a, b) {
  return a < b ? { from: a, to: b } : { from: b, to: a };
}
