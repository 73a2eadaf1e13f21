import { $, el } from './dom.js';
import { durationColumn, grouped, percent, percentSign, weightText } from './format.js';
import { fill, filterRows, headings, hotRow, share, sortRows } from './tables.js';
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
 * The rows of what has weight, sorted. The row objects live on from answer to answer and
 * stay in their order, which the next one hardly changes: sorting them anew is cheap.
 * @param {App} app @param {{ self: Float64Array, total: Float64Array }} hot
 * @param {boolean} modules hot is per module, not per function
 * @param {string} sort
 */
export function hotRows(app, hot, modules, sort) {
  const rows = modules ? app.moduleRows : app.functionRows;
  for (const r of rows) {
    r.self = hot.self[r.index];
    r.total = hot.total[r.index];
  }
  return sortRows(rows, sort).filter((r) => r.total > 0);
}

/**
 * @param {import('./client.js').Shape} shape @param {import('./colours.js').Colours} colours
 * @param {boolean} modules
 * @returns {import('./tables.js').HotRow[]}
 */
export function emptyRows({ header, fnModule }, colours, modules) {
  const { functions, modules: paths, shortNames } = header;
  const names = modules ? shortNames : functions.slice(0, -1); // the last one stands for the kernel in the flame graph only
  return names.map((name, index) => {
    const m = modules ? index : fnModule[index];
    const token = modules ? colours.module[index] : colours.fn(index);
    return { index, name, module: shortNames[m], path: paths[m] || 'unknown', token, self: 0, total: 0 };
  });
}

/** @param {App} app @param {Answer} answer @param {boolean} modules */
export function paintHotspots(app, answer, modules) {
  if (!answer.hot) return;
  const { state } = app;
  const rows = hotRows(app, answer.hot, modules, state.sort);
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
  const left = filterRows(rows, state.filter);
  const cpu = scale ? (/** @type {number} */ w) => column.text(w * scale) : null;
  const row = (/** @type {import('./tables.js').HotRow} */ r) =>
    hotRow(r, answer.weight, largest, cpu, modules);
  fill('hot', 'hot-more', left, row, app.dragging);
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
    `${percentSign(m.weight, total[zoom])} ${zoom ? 'of the view ' : ''}matched in ${grouped(m.frames)} ${m.frames === 1 ? 'frame' : 'frames'}`;
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
  if (zoom) notes.push(`view is ${percentSign(total[zoom], total[0])} of all`);
  return notes.join(' · ');
}

/** @param {App} app @param {Answer} answer */
export function paintThreads(app, answer) {
  const { threads } = app.header;
  const group = app.state.group === '1';
  const counted = threads.some((t) => t.cpu !== null);
  const { unit } = app.event;
  const rows = entries(threads, answer.threadWeight, answer.threadSamples, group);
  const sum = rows.reduce((a, r) => a + r.weight, 0);
  const largest = rows.reduce((a, r) => Math.max(a, r.weight), 0);
  const longest = rows.reduce(
    (a, r) => Math.max(a, cpuOf(threads, r) ?? 0),
    unit === 'ns' ? largest / 1e9 : 0,
  );
  const column = durationColumn(longest);
  const weight = (/** @type {number} */ w) => (unit === 'ns' ? column.text(w / 1e9) : weightText(w, unit));
  const heads = ['Thread', group ? 'Threads' : 'Tid', 'Share %', 'Samples'];
  heads.push(unit === 'ns' ? `Sampled ${column.unit}` : 'Weight');
  if (counted) heads.push(`CPU time ${column.unit}`);
  $('thread-head').replaceChildren(
    ...heads.map((t, i) => el('th', { scope: 'col', class: ['', 'n wide'][i] ?? 'n' }, t)),
  );
  const row = (/** @type {import('./threads.js').Entry} */ r) => {
    const on = app.state.who === r.value;
    /** @type {import('./tables.js').Cell[]} */
    const cells = [
      { cls: 'f', look: 'button', text: r.name, title: on ? 'Show all threads' : 'Show this one only' },
      { cls: 'n q wide', text: group ? String(r.threads.length) : String(threads[r.threads[0]].tid ?? '–') },
      { cls: 'n bb', text: percent(r.weight, sum), bar: share(r.weight, largest) },
      { cls: 'n', text: grouped(r.samples) },
      { cls: 'n', text: weight(r.weight) },
    ];
    if (counted) {
      const cpu = cpuOf(threads, r);
      const text = cpu === null ? 'not counted' : column.text(cpu);
      cells.push({ cls: cpu === null ? 'n q' : 'n', text, title: 'task-clock, whole run' });
    }
    return { cells, cls: on ? 'on-row' : '', value: r.value };
  };
  fill('thread-rows', 'thread-more', rows, row, app.dragging);
}

/**
 * What task-clock counted for the threads of an entry, null unless it did for all of them.
 * @param {import('./threads.js').Thread[]} threads @param {import('./threads.js').Entry} entry
 */
function cpuOf(threads, entry) {
  let sum = 0;
  for (const t of entry.threads) {
    const { cpu } = threads[t];
    if (cpu === null) return null;
    sum += cpu;
  }
  return sum;
}
