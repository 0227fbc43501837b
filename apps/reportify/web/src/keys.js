// SPDX-License-Identifier: Apache-2.0
// Keys of a view, and the dialog that lists them.
import {element} from './dom.js';

// `keys`: [key, as it is shown, what it does, action]. Gives a function that ends them.
export function listenTo(keys) {
  const press = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || ['INPUT', 'SELECT'].includes(event.target.tagName)) return;
    const found = keys.find(([key]) => key === event.key);
    if (!found) return;
    event.preventDefault();
    found[3]();
  };
  document.addEventListener('keydown', press);
  return () => document.removeEventListener('keydown', press);
}

export function helpButton(keys) {
  const dialog = element('dialog', {'aria-label': 'Keys'});
  const rows = keys.map(([, shown, what]) => element('tr', {}, element('th', {scope: 'row'}, shown), element('td', {}, what)));
  dialog.append(element('h2', {}, 'Keys'), element('table', {class: 'facts'}, ...rows), element('p', {}, element('button', {type: 'button', click: () => dialog.close()}, 'Close')));
  return {dialog, button: element('button', {type: 'button', id: 'keys', click: () => dialog.showModal()}, 'Keys')};
}
