import { $, el, nameCell } from './dom.js';
import { grouped, percent } from './format.js';

/**
 * @typedef {object} HotRow
 * @property {string} name
 * @property {string} module
 * @property {string} path
 * @property {string} token colour
 * @property {number} self
 * @property {number} total
 *
 * @typedef {{ key: string, text: string, cls?: string }} Heading
 */

const PAGE = 200; // rows shown at first: more would slow a drag, and nobody reads them

/**
 * Sorts rows: by key, falling if it has a minus. Ties fall back to self, total, name.
 * @param {HotRow[]} rows @param {string} sort
 */
export function sortRows(rows, sort) {
  const down = sort.startsWith('-');
  const key = down ? sort.slice(1) : sort;
  const text = (/** @type {string} */ a, /** @type {string} */ b) => (a < b ? -1 : a > b ? 1 : 0);
  /** @type {(a: HotRow, b: HotRow) => number} */
  const first =
    key === 'name'
      ? (a, b) => text(a.name, b.name)
      : key === 'module'
        ? (a, b) => text(a.module, b.module)
        : key === 'total'
          ? (a, b) => a.total - b.total
          : (a, b) => a.self - b.self;
  return rows.sort(
    (a, b) =>
      (down ? -first(a, b) : first(a, b)) || b.self - a.self || b.total - a.total || text(a.name, b.name),
  );
}

/** @param {HotRow[]} rows @param {string} filter */
export function filterRows(rows, filter) {
  const q = filter.toLowerCase();
  if (!q) return rows;
  return rows.filter((r) => r.name.toLowerCase().includes(q) || r.path.toLowerCase().includes(q));
}

/**
 * A table heading that sorts.
 * @param {HTMLElement} row @param {Heading[]} headings @param {string} sort @param {(sort: string) => void} onSort
 */
export function headings(row, headings, sort, onSort) {
  const focus = row.contains(document.activeElement)
    ? document.activeElement?.getAttribute('data-key')
    : null;
  row.replaceChildren(
    ...headings.map(({ key, text, cls = '' }) => {
      const number = cls.startsWith('n');
      const on = sort === key || sort === `-${key}`;
      const down = sort === `-${key}`;
      const th = el('th', { scope: 'col', class: cls });
      if (on) th.setAttribute('aria-sort', down ? 'descending' : 'ascending');
      const b = el('button', { 'data-key': key }, on ? `${text} ${down ? '↓' : '↑'}` : text);
      // Numbers are wanted largest first, names in order; a second click turns either round.
      b.addEventListener('click', () => onSort(on ? (down ? key : `-${key}`) : number ? `-${key}` : key));
      th.append(b);
      return th;
    }),
  );
  if (focus) /** @type {HTMLElement | null} */ (row.querySelector(`[data-key="${focus}"]`))?.focus();
}

/** A cell with a bar behind its number. @param {number} part @param {number} whole @param {string} text @param {string} [cls] */
export function barCell(part, whole, text, cls = '') {
  const td = el('td', { class: `n bb ${cls}` }, text);
  td.style.setProperty('--p', String(whole ? Math.min(100, (100 * part) / whole) : 0));
  return td;
}

/** How many rows each table shows; a button adds more. @type {Map<string, number>} */
const shown = new Map();

/**
 * Fills a table body with the first rows, and its button with what is left.
 * @template T
 * @param {string} body id @param {string} button id @param {T[]} rows @param {(row: T) => HTMLElement} make
 */
export function fill(body, button, rows, make) {
  const most = shown.get(body) ?? PAGE;
  $(body).replaceChildren(...rows.slice(0, most).map(make));
  const left = rows.length - most;
  const b = $(button);
  b.hidden = left <= 0;
  b.textContent = `Show ${grouped(Math.min(left, PAGE * 5))} more of ${grouped(left)}`;
  b.onclick = () => {
    shown.set(body, most + PAGE * 5);
    fill(body, button, rows, make);
  };
}

/**
 * @param {HotRow} r @param {number} whole weight of the scope @param {number} largest self of any row
 * @param {((weight: number) => string) | null} cpu time of a weight @param {boolean} paths show the module's path
 */
export function hotRow(r, whole, largest, cpu, paths) {
  const tr = el(
    'tr',
    {},
    el('td', { class: 'f' }, nameCell(r.name, r.token)),
    el('td', { class: 'md' }, el('span', { class: 'cut', title: r.path }, paths ? r.path : r.module)),
    barCell(r.self, largest, percent(r.self, whole)),
    barCell(r.total, whole, percent(r.total, whole)),
  );
  if (cpu) tr.append(barCell(r.self, largest, cpu(r.self), 'wide'));
  return tr;
}
