import { $, el } from './dom.js';
import { duration, durationColumn, grouped, percent, weightText } from './format.js';
import { barCell, fill, filterRows, headings, hotRow, sortRows } from './tables.js';
import { entries } from './threads.js';
import { matched } from './tree.js';

/**
 * What the tabs show of an answer.
 *
 * @typedef {import('./app.js').App} App
 * @typedef {import('./fold.js').Answer} Answer
 */

/** Seconds of CPU time that a unit of weight stands for; 0 where unknown. @param {App} app */
function secondsPerWeight(app) {
  const { cpu, total, kind } = app.event;
  return kind === 'cpu' && cpu !== null && total ? cpu / total : 0;
}

/**
 * @param {App} app @param {{ self: Float64Array, total: Float64Array }} hot
 * @param {boolean} modules hot is per module, not per function
 */
export function hotRows(app, hot, modules) {
  const { functions, modules: paths, shortNames } = app.header;
  /** @type {import('./tables.js').HotRow[]} */
  const rows = [];
  for (let i = modules ? 0 : 1; i < hot.self.length; i++) {
    if (!hot.total[i]) continue;
    const m = modules ? i : app.shape.fnModule[i];
    rows.push({
      name: modules ? shortNames[i] : functions[i],
      module: shortNames[m],
      path: paths[m] || 'unknown',
      token: modules ? app.colours.module[i] : app.colours.fn(i),
      self: hot.self[i],
      total: hot.total[i],
    });
  }
  return rows;
}

/** @param {App} app @param {Answer} answer @param {boolean} modules */
export function paintHotspots(app, answer, modules) {
  if (!answer.hot) return;
  const { state } = app;
  const rows = hotRows(app, answer.hot, modules);
  const largest = rows.reduce((a, r) => Math.max(a, r.self), 0);
  const scale = secondsPerWeight(app);
  const column = durationColumn(largest * scale);
  /** @type {import('./tables.js').Heading[]} */
  const heads = [
    { key: 'name', text: modules ? 'Module' : 'Function' },
    { key: 'module', text: modules ? 'File' : 'Module', cls: 'md' },
    { key: 'self', text: 'Self %', cls: 'n' },
    { key: 'total', text: 'Inclusive %', cls: 'n' },
  ];
  if (scale) heads.push({ key: 'cpu', text: `CPU time ${column.unit} ≈`, cls: 'n wide' });
  headings($('hot-head'), heads, state.sort, (sort) => app.set({ sort }));
  const left = sortRows(filterRows(rows, state.filter), state.sort);
  const cpu = scale ? (/** @type {number} */ w) => column.text(w * scale) : null;
  fill('hot', 'hot-more', left, (r) => hotRow(r, answer.weight, largest, cpu, modules));
  const what = modules ? 'modules' : 'functions';
  $('hot-count').textContent = `${grouped(left.length)} of ${grouped(rows.length)} ${what}`;
}

/** @param {App} app @param {Float64Array} total @param {import('./fold.js').TreeName} name */
export function paintFlame(app, total, name) {
  const tree = app.shape.trees[name];
  const { functions, modules } = app.header;
  const { fnModule, fnKind } = app.shape;
  // A link may point into what this scope does not have.
  const wanted = Number(app.state.zoom);
  const zoom = wanted < tree.fn.length && total[wanted] > 0 ? wanted : 0;
  const { hit, error } = app.search();
  app.flame.show({
    tree,
    total,
    zoom,
    hit,
    flame: app.state.dir === 'flame',
    rootName: app.scopeName,
    name: (fn) => functions[fn],
    module: (fn) => modules[fnModule[fn]] || (fnKind[fn] === 1 ? 'kernel' : 'unknown'),
    token: app.colours.fn,
    weight: (w) => weightText(w, app.event.unit),
  });
  const m = hit ? matched(tree, total, hit, zoom) : null;
  const found =
    m &&
    `${percent(m.weight, total[zoom])} % matched in ${grouped(m.frames)} ${m.frames === 1 ? 'frame' : 'frames'}`;
  $('match').textContent = error || found || '';
  /** @type {HTMLButtonElement} */ ($('unzoom')).disabled = zoom === 0;
  $('flame-note').textContent = flameNote(app, total, zoom);
}

/** @param {App} app @param {Float64Array} total @param {number} zoom */
function flameNote(app, total, zoom) {
  const { boxes } = app.flame;
  if (!total[0]) return 'nothing was sampled in this scope';
  if (!boxes) return '';
  const drawn = boxes.node.reduce((a, n, i) => a + Number(n >= 0 && boxes.row[i] < boxes.rows), 0);
  const notes = [`${grouped(drawn)} ${drawn === 1 ? 'frame' : 'frames'} drawn`];
  if (boxes.cut)
    notes.push(`${grouped(boxes.cut)} deeper ${boxes.cut === 1 ? 'row' : 'rows'} folded into the last one`);
  if (zoom) notes.push(`view is ${percent(total[zoom], total[0])} % of all`);
  return notes.join(' · ');
}

/** @param {App} app @param {Answer} answer */
export function paintThreads(app, answer) {
  const { threads } = app.header;
  const group = app.state.group === '1';
  const counted = threads.some((t) => t.cpu !== null);
  const heads = ['Thread', group ? 'Threads' : 'Tid', 'Share %', 'Samples', 'Weight'];
  if (counted) heads.push('CPU time');
  $('thread-head').replaceChildren(
    ...heads.map((t, i) =>
      el(
        'th',
        { scope: 'col', class: i ? 'n' : '', title: t === 'CPU time' ? 'task-clock, whole run' : '' },
        t,
      ),
    ),
  );
  const rows = entries(threads, answer.threadWeight, answer.threadSamples, group);
  const sum = rows.reduce((a, r) => a + r.weight, 0);
  const largest = rows.reduce((a, r) => Math.max(a, r.weight), 0);
  fill('thread-rows', 'thread-more', rows, (r) => {
    const on = app.state.who === r.value;
    const pick = el(
      'button',
      { class: 'link', 'aria-pressed': String(on), title: on ? 'Show all threads' : 'Show this one only' },
      r.name,
    );
    pick.addEventListener('click', () => app.set({ who: on ? '' : r.value, zoom: '' }, true));
    const tr = el(
      'tr',
      on ? { class: 'on-row' } : {},
      el('td', { class: 'f' }, pick),
      el('td', { class: 'n q' }, group ? String(r.threads.length) : String(threads[r.threads[0]].tid ?? '–')),
      barCell(r.weight, largest, percent(r.weight, sum)),
      el('td', { class: 'n' }, grouped(r.samples)),
      el('td', { class: 'n' }, weightText(r.weight, app.event.unit)),
    );
    if (counted) tr.append(cpuCell(r.threads.map((t) => threads[t].cpu)));
    return tr;
  });
}

/** What task-clock counted for some threads, if it did for all of them. @param {(number | null)[]} list */
function cpuCell(list) {
  let sum = 0;
  for (const cpu of list) {
    if (cpu === null) return el('td', { class: 'n q' }, 'not counted');
    sum += cpu;
  }
  return el('td', { class: 'n' }, duration(sum));
}
