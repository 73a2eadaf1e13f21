/** The page, by id. @param {string} id @returns {HTMLElement} */
export function $(id) {
  const e = document.getElementById(id);
  if (!e) throw new Error(`the page has no #${id}`);
  return e;
}

/** Says what went wrong, above the views; '' takes it back. @param {string} text */
export function sayTrouble(text) {
  $('trouble').textContent = text;
  $('trouble').hidden = !text;
}

/**
 * An element. Strings among its children become text nodes: names never become markup.
 * @param {string} tag @param {Record<string, string>} [attributes] @param {...(Node | string)} children
 */
export function el(tag, attributes = {}, ...children) {
  const e = document.createElement(tag);
  for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
  e.append(...children);
  return e;
}

/**
 * A name that shortens in the middle and is whole on hover and when copied.
 * @param {string} name @param {string} [token] colour of the swatch before it
 */
export function nameCell(name, token) {
  const tail = name.length > 32 ? Math.max(name.length - 16, name.length >> 1) : name.length;
  const fn = el('span', { class: 'fn', title: name }, el('span', { class: 'hd' }, name.slice(0, tail)));
  if (tail < name.length) fn.append(el('span', { class: 'tl' }, name.slice(tail)));
  if (token) {
    const sw = el('i', { class: 'sw' });
    sw.style.background = `var(--${token})`;
    fn.prepend(sw);
  }
  return fn;
}

/**
 * Marks the pressed button of a group.
 * @param {HTMLElement} group @param {string} value
 */
export function press(group, value) {
  for (const b of group.querySelectorAll('button')) {
    b.setAttribute('aria-pressed', String(b.dataset.v === value));
  }
}

/** Colours as the theme resolves them; canvas knows no tokens. */
export class Palette {
  /** @type {Map<string, string>} */
  known = new Map();

  constructor() {
    this.probe = el('i', { hidden: '' });
    document.body.append(this.probe);
  }

  forget() {
    this.known.clear();
  }

  /** @param {string} token */
  get(token) {
    let c = this.known.get(token);
    if (!c) {
      this.probe.style.color = `var(--${token})`;
      c = getComputedStyle(this.probe).color;
      this.known.set(token, c);
    }
    return c;
  }
}

/**
 * A canvas at the resolution of the device, cleared. Its width is its parent's.
 * @param {HTMLCanvasElement} canvas @param {number} height CSS px
 */
export function surface(canvas, height) {
  const width = canvas.parentElement?.clientWidth ?? 0;
  const scale = devicePixelRatio || 1;
  const w = Math.round(width * scale);
  const h = Math.round(height * scale);
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w;
    canvas.height = h;
    canvas.style.height = `${height}px`;
  }
  const g = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
  g.setTransform(scale, 0, 0, scale, 0, 0);
  g.clearRect(0, 0, width, height);
  return { g, width, height };
}

/** Widths of text, added up from its characters: thousands of labels a frame need no layout. */
export class Ruler {
  /** @type {Map<string, number>} */
  widths = new Map();

  /** @param {string} font */
  constructor(font) {
    this.font = font;
    this.g = /** @type {CanvasRenderingContext2D} */ (document.createElement('canvas').getContext('2d'));
    this.g.font = font;
  }

  /** @param {string} s */
  measure = (s) => {
    let sum = 0;
    for (const c of s) {
      let w = this.widths.get(c);
      if (w === undefined) {
        w = this.g.measureText(c).width;
        this.widths.set(c, w);
      }
      sum += w;
    }
    return sum;
  };
}

/**
 * A panel at the pointer.
 * @param {number} x @param {number} y client px
 * @param {string} title @param {[string, string, string?][]} rows @param {string} note
 */
export function showTip(x, y, title, rows, note) {
  const tip = $('tip');
  const list = el('dl');
  for (const [term, value, more] of rows) {
    list.append(el('dt', {}, term));
    if (more === undefined) list.append(el('dd', { class: 'wide' }, value));
    else list.append(el('dd', {}, value), el('span', { class: 'q' }, more));
  }
  tip.replaceChildren(el('b', {}, title), list);
  if (note) tip.append(el('p', {}, note));
  tip.hidden = false;
  const r = tip.getBoundingClientRect();
  tip.style.left = `${Math.max(8, Math.min(x + 12, innerWidth - r.width - 8))}px`;
  tip.style.top = `${y + 16 + r.height > innerHeight ? Math.max(8, y - r.height - 8) : y + 16}px`;
}

export function hideTip() {
  $('tip').hidden = true;
}
