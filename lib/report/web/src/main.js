import { App } from './app.js';
import { Client, serve } from './client.js';
import { $, sayTrouble } from './dom.js';
import { parseState } from './state.js';

/** Opens the page. @param {string} script the page's own, from which a worker can be started */
async function open(script) {
  document.documentElement.classList.add('on');
  const { theme } = parseState(location.hash);
  if (theme) document.documentElement.dataset.theme = theme; // before the first paint
  try {
    const { client, shape } = await Client.open($('data').textContent ?? '', script);
    $('data').remove(); // megabytes that nobody needs twice
    await new App(client, shape).start();
  } catch (err) {
    const old =
      typeof DecompressionStream === 'undefined'
        ? ' (this browser is too old: it has no DecompressionStream)'
        : '';
    sayTrouble(
      `The samples in this page cannot be read${old}: ${err}. The overview below does not need them.`,
    );
  }
  performance.mark('ready');
  document.documentElement.dataset.ready = '';
}

if (typeof document === 'undefined') serve();
else open(document.currentScript?.textContent ?? '');
