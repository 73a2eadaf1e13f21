import { hideTip, Ruler, showTip, surface } from './dom.js';
import { fit, grouped, percentSign } from './format.js';
import { ancestors, layout } from './layout.js';
import { heightOf, selfOf } from './tree.js';

const ROW = 20;
const ROOM = 28; // px: what a label needs
const ABOVE = 12; // rows for the callers of the zoomed frame, the root among them

/**
 * @typedef {import('./tree.js').Tree} Tree
 *
 * @typedef {object} Picture what the flame graph shows
 * @property {Tree} tree
 * @property {Float64Array} total
 * @property {number} zoom
 * @property {Uint8Array | null} hit per function: the search matches
 * @property {boolean} flame the root is at the bottom
 * @property {string} rootName
 * @property {(fn: number) => string} name
 * @property {(fn: number) => string} module
 * @property {(fn: number) => string} token colour of a function
 * @property {(weight: number) => string} weight
 *
 * @typedef {object} Row of callers above the zoomed frame
 * @property {number} node that a click leads to
 * @property {string} text
 * @property {boolean} band it stands for several
 */

/** A flame graph on a canvas that is as tall as the rows it draws. */
export class Flame {
  /** @type {Picture | null} */
  picture = null;
  /** @type {import('./layout.js').Layout | null} */
  boxes = null;
  /** @type {number[][]} */
  byRow = [];
  /** @type {Row[]} */
  above = [];
  hover = -1; // node
  cursor = -1; // node, moved by keyboard

  /**
   * @param {HTMLCanvasElement} canvas @param {import('./dom.js').Palette} palette
   * @param {(node: number) => void} onZoom @param {(text: string) => void} onSay
   */
  constructor(canvas, palette, onZoom, onSay) {
    this.canvas = canvas;
    this.palette = palette;
    this.onZoom = onZoom;
    this.onSay = onSay;
    const sans = getComputedStyle(document.documentElement).getPropertyValue('--sans');
    this.fonts = { plain: `11px ${sans}`, bold: `600 11px ${sans}`, slanted: `italic 11px ${sans}` };
    this.ruler = new Ruler(this.fonts.plain);
    canvas.addEventListener('pointermove', (e) => this.point(e));
    canvas.addEventListener('pointerleave', () => this.leave());
    canvas.addEventListener('click', (e) => this.click(e));
    canvas.addEventListener('keydown', (e) => this.key(e));
    canvas.addEventListener('blur', () => this.leave());
  }

  /** @param {Picture} picture */
  show(picture) {
    if (this.picture && this.picture.tree !== picture.tree) this.cursor = -1;
    this.picture = picture;
    this.draw();
  }

  /** The callers of the zoomed frame: all of them, or the root, a band, and the nearest. */
  rowsAbove() {
    const p = /** @type {Picture} */ (this.picture);
    const list = ancestors(p.tree, p.zoom);
    const row = (/** @type {number} */ node) => ({ node, text: this.nameOf(node), band: false });
    if (list.length <= ABOVE) return list.map(row);
    const near = list.slice(-(ABOVE - 2));
    const left = list.length - near.length - 1;
    return [
      row(0),
      { node: list[left], text: `… ${grouped(left)} more callers`, band: true },
      ...near.map(row),
    ];
  }

  /** @param {number} node */
  nameOf(node) {
    const p = /** @type {Picture} */ (this.picture);
    return node === 0 ? p.rootName : p.name(p.tree.fn[node]);
  }

  draw() {
    const p = this.picture;
    const width = this.canvas.parentElement?.clientWidth ?? 0;
    if (!p || !width) return;
    const boxes = layout(p.tree, p.total, p.zoom, width);
    this.boxes = boxes;
    this.above = this.rowsAbove();
    const { g, height } = surface(this.canvas, Math.max(1, this.above.length + boxes.rows) * ROW);
    this.height = height;
    this.byRow = Array.from({ length: boxes.rows }, () => []);
    this.above.forEach((row, i) => {
      this.paint(
        g,
        0,
        this.y(i),
        width,
        'm-up',
        row.text,
        row.band ? this.fonts.slanted : this.fonts.plain,
        'ink-2',
      );
    });
    for (let b = 0; b < boxes.node.length; b++) {
      const row = boxes.row[b];
      if (row >= boxes.rows) continue;
      this.byRow[row].push(b);
      this.paintBox(g, b);
    }
    this.outline(g, p.zoom === 0 ? -1 : p.zoom, 'you', 2);
    this.outline(g, this.cursor, 'you', 2);
    this.outline(g, this.hover, 'ink', 1);
  }

  /** Top of a row, counted from the root. @param {number} row */
  y(row) {
    return this.picture?.flame ? (this.height ?? 0) - (row + 1) * ROW : row * ROW;
  }

  /** @param {CanvasRenderingContext2D} g @param {number} b */
  paintBox(g, b) {
    const p = /** @type {Picture} */ (this.picture);
    const boxes = /** @type {import('./layout.js').Layout} */ (this.boxes);
    const node = boxes.node[b];
    const y = this.y(this.above.length + boxes.row[b]);
    if (node < 0) {
      this.paintRun(g, b, y);
      return;
    }
    const fn = p.tree.fn[node];
    const token = node === 0 ? 'bg-2' : p.token(fn);
    const hit = node !== 0 && p.hit?.[fn];
    const font =
      token === 'm-unknown'
        ? this.fonts.slanted
        : node === p.zoom && node
          ? this.fonts.bold
          : this.fonts.plain;
    const ink = hit ? 'you-ink' : token === 'm-unknown' ? 'ink-3' : 'ink';
    this.paint(g, boxes.x[b], y, boxes.w[b], hit ? 'you' : token, this.nameOf(node), font, ink);
  }

  /** @param {CanvasRenderingContext2D} g @param {number} b @param {number} y */
  paintRun(g, b, y) {
    const boxes = /** @type {import('./layout.js').Layout} */ (this.boxes);
    const w = Math.max(0.5, boxes.w[b]);
    const roomy = w >= ROOM; // most runs are not, and counting what is in them all takes longer than drawing
    const { n, hit } = roomy || this.picture?.hit ? this.framesIn(b) : { n: 0, hit: false };
    const text = roomy ? `${grouped(n)} narrow frames` : '';
    this.paint(
      g,
      boxes.x[b],
      y,
      w,
      hit ? 'you' : 'm-up',
      text,
      this.fonts.slanted,
      hit ? 'you-ink' : 'ink-3',
    );
  }

  /** How many frames a run stands for, and whether the search is among them. @param {number} b */
  framesIn(b) {
    const p = /** @type {Picture} */ (this.picture);
    const boxes = /** @type {import('./layout.js').Layout} */ (this.boxes);
    let n = 0;
    let hit = false;
    for (let i = boxes.from[b]; i < boxes.to[b]; i++) {
      if (!(p.total[i] > 0)) continue;
      n++;
      if (p.hit?.[p.tree.fn[i]]) hit = true;
    }
    return { n, hit };
  }

  /**
   * @param {CanvasRenderingContext2D} g @param {number} x @param {number} y @param {number} w
   * @param {string} fill @param {string} text @param {string} font @param {string} ink
   */
  paint(g, x, y, w, fill, text, font, ink) {
    const right = w > 3 ? w - 1 : w;
    g.fillStyle = this.palette.get(fill);
    g.fillRect(x, y, right, ROW - 1);
    if (fill === 'm-kernel' && w > 6) this.hatch(g, x, y, right);
    if (w < ROOM || !text) return;
    const label = fit(text, w - 8, this.ruler.measure);
    if (!label) return;
    g.font = font;
    g.textBaseline = 'middle';
    g.fillStyle = this.palette.get(ink);
    g.fillText(label, x + 4, y + ROW / 2);
  }

  /** A second cue beside colour. @param {CanvasRenderingContext2D} g @param {number} x @param {number} y @param {number} w */
  hatch(g, x, y, w) {
    g.save();
    g.beginPath();
    g.rect(x, y, w, ROW - 1);
    g.clip();
    g.strokeStyle = this.palette.get('hatch');
    g.lineWidth = 1;
    g.beginPath();
    for (let i = -ROW; i < w; i += 6) {
      g.moveTo(x + i, y + ROW);
      g.lineTo(x + i + ROW, y);
    }
    g.stroke();
    g.restore();
  }

  /** @param {CanvasRenderingContext2D} g @param {number} node @param {string} token @param {number} line */
  outline(g, node, token, line) {
    const r = this.place(node);
    if (!r || r.w < 2) return;
    g.strokeStyle = this.palette.get(token);
    g.lineWidth = line;
    g.strokeRect(r.x + line / 2, r.y + line / 2, Math.max(1, r.w - 1 - line), ROW - 1 - line);
  }

  /** Where a node is drawn. @param {number} node */
  place(node) {
    const boxes = this.boxes;
    if (node < 0 || !boxes) return null;
    const b = boxes.node.indexOf(node);
    if (b >= 0 && boxes.row[b] < boxes.rows) {
      return { x: boxes.x[b], y: this.y(this.above.length + boxes.row[b]), w: boxes.w[b] };
    }
    const up = this.above.findIndex((r) => r.node === node && !r.band);
    return up < 0 ? null : { x: 0, y: this.y(up), w: this.canvas.clientWidth };
  }

  /**
   * What is at a point: a row of callers, or a box.
   * @param {number} x @param {number} y CSS px within the canvas
   */
  at(x, y) {
    const boxes = this.boxes;
    if (!boxes || !this.height) return null;
    const line = Math.floor(y / ROW);
    const row = this.picture?.flame ? this.height / ROW - 1 - line : line;
    if (row < this.above.length)
      return row < 0 ? null : { node: this.above[row].node, up: this.above[row], box: -1 };
    const list = this.byRow[row - this.above.length] ?? [];
    let lo = 0;
    let hi = list.length;
    while (lo < hi) {
      const mid = (lo + hi) >>> 1;
      if (boxes.x[list[mid]] + boxes.w[list[mid]] <= x) lo = mid + 1;
      else hi = mid;
    }
    const b = list[lo];
    if (b === undefined || boxes.x[b] > x) return null;
    return { node: boxes.node[b], up: null, box: b };
  }

  /** @param {MouseEvent} e */
  under(e) {
    const r = this.canvas.getBoundingClientRect();
    return this.at(e.clientX - r.left, e.clientY - r.top);
  }

  /** @param {PointerEvent} e */
  point(e) {
    const hit = this.under(e);
    const node = hit && !hit.up?.band ? hit.node : -1;
    if (node !== this.hover) {
      this.hover = node;
      this.draw();
    }
    if (hit) this.tip(hit, e.clientX, e.clientY);
    else hideTip();
  }

  leave() {
    hideTip();
    if (this.hover < 0) return;
    this.hover = -1;
    this.draw();
  }

  /** @param {MouseEvent} e */
  click(e) {
    const hit = this.under(e);
    if (hit && hit.node >= 0) this.zoomTo(hit.node);
  }

  /** Zooms in; on the zoomed frame itself, one level out. @param {number} node */
  zoomTo(node) {
    const p = this.picture;
    if (!p) return;
    hideTip();
    this.hover = -1;
    const to = node === p.zoom ? p.tree.parent[node] : node;
    if (to !== p.zoom) this.onZoom(to);
  }

  /** @param {{ node: number, up: Row | null, box: number }} hit @param {number} x @param {number} y */
  tip(hit, x, y) {
    const p = /** @type {Picture} */ (this.picture);
    const boxes = /** @type {import('./layout.js').Layout} */ (this.boxes);
    if (hit.up?.band) {
      showTip(x, y, hit.up.text, [], 'click to see the lowest of them');
      return;
    }
    if (hit.node < 0) {
      const { n } = this.framesIn(hit.box);
      const w = (boxes.w[hit.box] / this.canvas.clientWidth) * p.total[p.zoom];
      showTip(
        x,
        y,
        `${grouped(n)} ${n === 1 ? 'frame' : 'frames'} too narrow to draw`,
        [['total', p.weight(w), this.shares(w)]],
        '',
      );
      return;
    }
    const d = this.describe(hit.node);
    showTip(x, y, d.name, d.rows, d.note);
  }

  /** @param {number} w */
  shares(w) {
    const p = /** @type {Picture} */ (this.picture);
    const all = `${percentSign(w, p.total[0])} of all`;
    return p.zoom === 0 ? all : `${percentSign(w, p.total[p.zoom])} of view, ${all}`;
  }

  /** @param {number} node @returns {{ name: string, rows: [string, string, string?][], note: string }} */
  describe(node) {
    const p = /** @type {Picture} */ (this.picture);
    const boxes = /** @type {import('./layout.js').Layout} */ (this.boxes);
    const self = selfOf(p.tree, p.total, node);
    /** @type {[string, string, string?][]} */
    const rows = [
      ['self', p.weight(self), this.shares(self)],
      ['total', p.weight(p.total[node]), this.shares(p.total[node])],
    ];
    if (node !== 0) rows.unshift(['module', p.module(p.tree.fn[node])]);
    const row = p.tree.depth[node] - p.tree.depth[p.zoom];
    const below = row === boxes.rows - 1 ? heightOf(p.tree, p.total, node) : 0;
    const note = below
      ? `stands for ${grouped(below)} more ${below === 1 ? 'row' : 'rows'}: click to see them`
      : '';
    return { name: this.nameOf(node), rows, note };
  }

  /** @param {KeyboardEvent} e */
  key(e) {
    const p = this.picture;
    if (!p) return;
    if (e.key === 'Escape') {
      hideTip();
      this.cursor = -1;
      if (p.zoom !== 0) this.onZoom(0);
      else this.draw();
      return;
    }
    const at = this.cursor >= 0 ? this.cursor : p.zoom;
    if (e.key === 'Enter') {
      this.zoomTo(at);
    } else if (e.key.startsWith('Arrow')) {
      this.cursor = this.step(at, e.key);
      this.draw();
      this.say();
    } else {
      return;
    }
    e.preventDefault();
  }

  /** The node that an arrow key leads to from `at`. @param {number} at @param {string} key */
  step(at, key) {
    const { tree, total, flame } = /** @type {Picture} */ (this.picture);
    const up = flame ? 'ArrowDown' : 'ArrowUp';
    const down = flame ? 'ArrowUp' : 'ArrowDown';
    if (key === up) return tree.parent[at];
    const parent = key === down ? at : tree.parent[at];
    let before = at;
    for (let c = parent + 1; c < tree.end[parent]; c = tree.end[c]) {
      if (!total[c]) continue;
      if (key === down || (key === 'ArrowRight' && c > at && at !== 0)) return c;
      if (key === 'ArrowLeft' && c === at) return before;
      before = c;
    }
    return at;
  }

  say() {
    const d = this.describe(this.cursor);
    this.onSay(`${d.name}, ${d.rows.map((r) => r.filter(Boolean).join(' ')).join(', ')}`);
    const r = this.place(this.cursor);
    const c = this.canvas.getBoundingClientRect();
    if (r) showTip(c.left + Math.min(r.x + r.w / 2, c.width - 24), c.top + r.y + 8, d.name, d.rows, d.note);
    else hideTip();
  }
}
