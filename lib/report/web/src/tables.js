import { $, el, nameCell } from './dom.js';
import { grouped, percent } from './format.js';

/**
 * @typedef {object} HotRow
 * @property {number} index of the function or module
 * @property {string} name
 * @property {string} module
 * @property {string} path
 * @property {string} token colour
 * @property {number} self
 * @property {number} total
 *
 * @typedef {{ key: string, text: string, cls?: string }} Heading
 *
 * @typedef {object} Cell
 * @property {string} cls
 * @property {string} text
 * @property {'name' | 'function' | 'cut' | 'button'} [look]
 * @property {string} [token] colour of the swatch before a name
 * @property {string} [title]
 * @property {number} [bar] percent of the cell
 *
 * @typedef {{ cells: Cell[], cls?: string, value?: string }} Row
 */

const PAGE = 100; // rows shown at first: more would slow a drag, and nobody reads them

/**
 * Sorts rows: by key, falling if it has a minus. Ties fall back to self, total, name, module.
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
      (down ? -first(a, b) : first(a, b)) ||
      b.self - a.self ||
      b.total - a.total ||
      text(a.name, b.name) ||
      text(a.path, b.path),
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

/** How many rows each table shows; a button adds more. @type {Map<string, number>} */
const shown = new Map();

/**
 * Fills a table body with the first items, and its button with what is left. Rows that are
 * there already are changed where they differ: a drag changes numbers, seldom names.
 * @template T
 * @param {string} body id @param {string | null} button id @param {T[]} items
 * @param {(item: T) => Row} make @param {boolean} live only what is on screen: more is coming
 */
export function fill(body, button, items, make, live) {
  const most = shown.get(body) ?? PAGE;
  const tbody = $(body);
  const n = Math.min(most, items.length);
  while (tbody.children.length > n) tbody.lastElementChild?.remove();
  while (tbody.children.length < n) tbody.append(el('tr'));
  const [from, to] = live ? onScreen(tbody, n) : [0, n];
  for (let i = from; i < to; i++) {
    patchRow(/** @type {HTMLTableRowElement} */ (tbody.children[i]), make(items[i]));
  }
  if (!button) return;
  const left = items.length - most;
  const b = $(button);
  b.hidden = left <= 0;
  b.textContent = `Show ${grouped(Math.min(left, PAGE * 5))} more of ${grouped(left)}`;
  b.onclick = () => {
    shown.set(body, most + PAGE * 5);
    fill(body, button, items, make, false);
  };
}

/** Which of a body's rows, all equally high, the window shows. @param {HTMLElement} tbody @param {number} n */
function onScreen(tbody, n) {
  const { top, height } = tbody.getBoundingClientRect();
  const row = height / Math.max(1, n) || 1;
  const clamp = (/** @type {number} */ i) => Math.max(0, Math.min(n, i));
  return [clamp(Math.floor(-top / row)), clamp(Math.ceil((innerHeight - top) / row))];
}

/** What a row shows now. @type {WeakMap<Element, Row>} */
const current = new WeakMap();

/** @param {HTMLTableRowElement} tr @param {Row} row */
function patchRow(tr, row) {
  const old = current.get(tr);
  current.set(tr, row);
  if (old?.cls !== row.cls) tr.className = row.cls ?? '';
  if (old?.value !== row.value) tr.dataset.value = row.value ?? '';
  while (tr.cells.length > row.cells.length) tr.lastElementChild?.remove();
  row.cells.forEach((cell, i) => {
    const was = old?.cells[i];
    const td = tr.cells[i] ?? tr.appendChild(el('td'));
    if (was?.cls !== cell.cls) td.className = cell.cls;
    if (was?.title !== cell.title) td.title = cell.title ?? '';
    if (was?.bar !== cell.bar) td.style.setProperty('--p', String(cell.bar ?? 0));
    if (was?.text !== cell.text || was.look !== cell.look || was.token !== cell.token)
      td.replaceChildren(content(cell));
  });
}

/** @param {Cell} cell */
function content({ text, look, token }) {
  if (look === 'name') return nameCell(text, token);
  if (look === 'function')
    return el('button', { class: 'link', 'data-function': text }, nameCell(text, token));
  if (look === 'button') return el('button', { class: 'link' }, text);
  if (look === 'cut') return el('span', { class: 'cut' }, text);
  return text;
}

/** How long a bar is, in percent. @param {number} part @param {number} whole */
export function share(part, whole) {
  return whole ? Math.min(100, Math.round((1000 * part) / whole) / 10) : 0;
}

/**
 * @param {HotRow} r @param {number} whole weight of the scope @param {number} largest self of any row
 * @param {((weight: number) => string) | null} cpu time of a weight @param {boolean} paths show the module's path
 * @returns {Row}
 */
export function hotRow(r, whole, largest, cpu, paths) {
  /** @type {Cell[]} */
  const cells = [
    { cls: 'f', look: paths ? 'name' : 'function', text: r.name, token: r.token },
    { cls: 'md', look: 'cut', text: paths ? r.path : r.module, title: r.path },
    { cls: 'n bb', text: percent(r.self, whole), bar: share(r.self, largest) },
    { cls: 'n bb', text: percent(r.total, whole), bar: share(r.total, whole) },
  ];
  if (cpu) cells.push({ cls: 'n bb wide', text: cpu(r.self), bar: share(r.self, largest) });
  return { cells };
}
