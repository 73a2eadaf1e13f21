/**
 * Numbers and names as a reader wants them. The plain HTML of the page is formatted alike,
 * by format.go.
 */

export const THIN = '\u202f'; // narrow no-break space between digits

/** 44052 is 44 052. @param {number} n */
export function grouped(n) {
  const s = String(Math.round(Math.abs(n))).replace(/\B(?=(\d{3})+$)/g, THIN);
  return n < 0 && s !== '0' ? `−${s}` : s;
}

/** A share of a whole; there is none of a whole of 0. @param {number} part @param {number} whole */
export function percent(part, whole) {
  return whole ? ((100 * part) / whole).toFixed(1) : '–';
}

/** The same with the sign behind it. @param {number} part @param {number} whole */
export function percentSign(part, whole) {
  return whole ? `${percent(part, whole)} %` : '–';
}

/** Digits that a reader compares by. @param {number} v */
export function significant(v) {
  const a = Math.abs(v);
  if (a >= 1000) return grouped(v);
  if (Number.isInteger(v)) return String(v);
  if (a >= 10) return v.toFixed(1);
  if (a >= 0.1) return v.toFixed(2);
  return String(Number(v.toPrecision(3)));
}

/** Seconds in the unit that a person would say. @param {number} s */
export function duration(s) {
  const a = Math.abs(s);
  if (a >= 600) return `${significant(s / 60)} min`;
  if (a >= 1 || a === 0) return `${significant(s)} s`;
  if (a >= 1e-3) return `${significant(s * 1e3)} ms`;
  if (a >= 1e-6) return `${significant(s * 1e6)} µs`;
  return `${significant(s * 1e9)} ns`;
}

/**
 * How to write a column of durations: one unit, and as many decimals, for all of them.
 * @param {number} largest seconds
 * @returns {{ unit: string, text: (s: number) => string }}
 */
export function durationColumn(largest) {
  const [unit, scale] = largest >= 1 ? ['s', 1] : largest >= 1e-3 ? ['ms', 1e3] : ['µs', 1e6];
  const decimals = Math.max(0, 2 - Math.max(0, Math.floor(Math.log10(Math.max(1, largest * scale)))));
  return { unit, text: (v) => (decimals ? (v * scale).toFixed(decimals) : grouped(v * scale)) };
}

/** @param {number} v */
export function bytes(v) {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let i = 0;
  while (i < units.length - 1 && Math.abs(v) >= 999.5) {
    v /= 1024;
    i++;
  }
  return `${significant(v)} ${units[i]}`;
}

/** Large numbers with a prefix: 954 G. @param {number} v @param {number} [from] where prefixes begin */
export function scaled(v, from = 1e7) {
  const prefixes = ['', 'k', 'M', 'G', 'T', 'P'];
  if (Math.abs(v) < from) return significant(v);
  let i = 0;
  while (i < prefixes.length - 1 && Math.abs(v) >= 999.5) {
    v /= 1000;
    i++;
  }
  return `${significant(v)} ${prefixes[i]}`;
}

/** The weight of an event with its unit. @param {number} v @param {string} unit */
export function weightText(v, unit) {
  switch (unit) {
    case 'ns':
      return duration(v / 1e9);
    case '':
    case 'count':
      return scaled(v);
    default:
      return `${scaled(v)} ${unit}`;
  }
}

/** A time on the axis of a run of `span` seconds: no more decimals than it takes. @param {number} s @param {number} span */
export function axisTime(s, span) {
  const decimals = span >= 20 ? 1 : span >= 2 ? 2 : span >= 0.2 ? 3 : 6;
  return s.toFixed(decimals);
}

/**
 * Shorter and shorter forms of a name, for boxes of any width: without parameters, without
 * template arguments, without one scope after the other.
 * @param {string} name @returns {string[]}
 */
export function shorter(name) {
  const forms = [name];
  const add = (/** @type {string} */ s) => {
    if (s && s.length < forms[forms.length - 1].length) forms.push(s);
  };
  const bare = dropGroups(name, '(', ')')
    .replace(/ (const|volatile|noexcept|&|&&)+$/g, '')
    .trimEnd();
  add(bare);
  const plain = dropGroups(bare, '<', '>');
  add(plain);
  for (let at = plain.indexOf('::'); at >= 0; at = plain.indexOf('::', at + 2)) add(plain.slice(at + 2));
  return forms;
}

/**
 * Removes what is in brackets. Brackets that begin a name stay, as in
 * `(anonymous namespace)::f` or `<T as Trait>::f`, and so does a name in which they do not
 * pair up, as in `operator<`.
 * @param {string} s @param {string} open @param {string} close
 */
function dropGroups(s, open, close) {
  if (/\boperator[<>(-]/.test(s)) return s;
  let out = '';
  let depth = 0;
  let keep = true;
  for (let i = 0; i < s.length; i++) {
    const c = s[i];
    if (c === open && depth++ === 0) keep = i === 0 || s[i - 1] === ':' || s[i - 1] === ' ';
    if (keep || depth === 0) out += c;
    if (c === close && --depth <= 0) {
      if (depth < 0) return s;
      keep = true;
    }
  }
  return depth ? s : out;
}

/**
 * The longest form of a name that fits, or as much of the shortest as does; '' if that is
 * not worth drawing.
 * @param {string} name @param {number} width @param {(s: string) => number} measure
 */
export function fit(name, width, measure) {
  let last = name;
  for (const form of shorter(name)) {
    if (measure(form) <= width) return form;
    last = form;
  }
  const room = width - measure('…');
  let used = 0;
  let cut = 0;
  for (const c of last) {
    used += measure(c);
    if (used > room) break;
    cut += c.length;
  }
  return cut < 3 ? '' : `${last.slice(0, cut)}…`;
}
