import { el } from './dom.js';

/**
 * Colours by module: the seven heaviest have hues, in the order in which the header lists
 * them. Kernel and unknown have none. Where no module is known every function has the first.
 *
 * @typedef {object} Colours
 * @property {string[]} module token per module
 * @property {(fn: number) => string} fn token of a function
 * @property {boolean} flat there are no modules
 */

/**
 * @param {import('./client.js').Shape} shape
 * @returns {Colours}
 */
export function moduleColours({ header, fnModule, fnKind }) {
  const kernelOnly = new Uint8Array(header.modules.length).fill(1);
  for (let i = 1; i < fnKind.length; i++) if (fnKind[i] === 0) kernelOnly[fnModule[i]] = 0;
  const flat = header.modules.length === 1;
  let hue = 0;
  const module = header.modules.map((_, i) => {
    if (flat) return 'm0';
    if (i === 0) return 'm-other';
    if (kernelOnly[i]) return 'm-kernel';
    return hue < 7 ? `m${hue++}` : 'm-other';
  });
  const byKind = ['', 'm-kernel', 'm-unknown'];
  return { module, flat, fn: (f) => byKind[fnKind[f]] || module[fnModule[f]] };
}

const NAMES = new Map([
  ['m-other', 'other modules'],
  ['m-kernel', 'kernel'],
  ['m-unknown', 'unknown'],
]);

/**
 * The colours that occur, with what they stand for.
 * @param {import('./client.js').Shape} shape @param {Colours} colours
 */
export function legend({ header, fnModule, fnKind }, colours) {
  /** @type {Map<string, string>} */
  const used = new Map();
  for (let i = 1; i < fnKind.length - 1; i++) {
    const token = colours.fn(i);
    const name = colours.flat ? 'functions' : header.shortNames[fnModule[i]];
    used.set(token, NAMES.get(token) ?? name);
  }
  const hues = [...used.keys()].filter((t) => !NAMES.has(t)).sort();
  return [...hues, ...[...NAMES.keys()].filter((t) => used.has(t))].map((token) => {
    const sw = el('i', { class: 'sw' });
    sw.style.background = `var(--${token})`;
    return el('span', {}, sw, used.get(token) ?? '');
  });
}
