/**
 * What a link to a view must say: everything a reader chose. It lives in the fragment, as
 * key=value pairs joined by commas; what has its default is left out.
 */
export const DEFAULTS = {
  tab: 'overview',
  event: '0',
  who: '', // '' all threads, 't' and a tid, 'g' and a name
  group: '',
  range: '', // seconds into the run: 'from-to'
  mode: '',
  zoom: '', // node of the tree that is shown
  q: '',
  dir: '',
  kernel: '',
  sort: '-self',
  by: '',
  filter: '',
  theme: '',
};

/** @typedef {typeof DEFAULTS} State */

/** @param {string} fragment with or without its # @returns {State} */
export function parseState(fragment) {
  const s = { ...DEFAULTS };
  for (const pair of fragment.replace(/^#/, '').split(',')) {
    const at = pair.indexOf('=');
    if (at < 1) continue;
    const key = pair.slice(0, at);
    if (!Object.hasOwn(s, key)) continue;
    try {
      s[/** @type {keyof State} */ (key)] = decodeURIComponent(pair.slice(at + 1));
    } catch {
      // A broken escape: the link was cut. The default stands.
    }
  }
  return s;
}

/** @param {State} s */
export function stateText(s) {
  const pairs = [];
  for (const key of /** @type {(keyof State)[]} */ (Object.keys(DEFAULTS))) {
    if (s[key] !== DEFAULTS[key]) pairs.push(`${key}=${encodeURIComponent(s[key])}`);
  }
  return `#${pairs.join(',')}`;
}

/**
 * The range of a state in ticks, null for the whole run or for nonsense.
 * @param {string} text @param {number} tickNS @param {number} spanTicks
 */
export function parseRange(text, tickNS, spanTicks) {
  const m = /^(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)$/.exec(text);
  if (!m) return null;
  const tick = (/** @type {string} */ s) => Math.round((Number(s) * 1e9) / tickNS);
  const from = Math.min(tick(m[1]), spanTicks);
  const to = Math.min(tick(m[2]), spanTicks + 1);
  return from < to && (from > 0 || to <= spanTicks) ? { from, to } : null;
}

/** @param {{ from: number, to: number } | null} range @param {number} tickNS */
export function rangeText(range, tickNS) {
  if (!range) return '';
  const s = (/** @type {number} */ t) => String(Number(((t * tickNS) / 1e9).toFixed(9)));
  return `${s(range.from)}-${s(range.to)}`;
}
