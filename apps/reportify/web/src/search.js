// SPDX-License-Identifier: Apache-2.0
// A field that lists the nodes whose name, op or origin holds a text.
import {element} from './dom.js';

const MOST = 50;

export function findNodes(graph, text) {
  const wanted = text.trim().toLowerCase();
  if (!wanted) return [];
  const holds = (value) => value.toLowerCase().includes(wanted);
  const out = [];
  graph.nodes.forEach((node, at) => {
    if (holds(node.name) || holds(node.op) || (node.origins ?? []).some(([, name]) => holds(name))) out.push(at);
  });
  return out;
}

// [field, list]; `goTo(at)` is called for the node that is picked.
export function searchField(graph, goTo) {
  const list = element('ul', {class: 'found', 'aria-label': 'Nodes found'});
  const count = element('span', {role: 'status'});
  // Without the focus, which would go back to the field, and the keys with it, when the node's dialog is closed.
  const pick = (at) => {
    list.replaceChildren();
    field.blur();
    goTo(at);
  };
  const update = () => {
    const found = findNodes(graph, field.value);
    count.textContent = field.value.trim() ? `${found.length} found` : '';
    list.replaceChildren(...found.slice(0, MOST).map((at) => {
      const {name, op} = graph.nodes[at];
      return element('li', {}, element('button', {type: 'button', click: () => pick(at)}, `${name} (${op})`));
    }));
  };
  const keys = (event) => {
    if (event.key === 'Enter') {
      // Or the key would also press the button that gets the focus.
      event.preventDefault();
      list.querySelector('button')?.click();
    }
    if (event.key === 'Escape') { field.value = ''; update(); field.blur(); }
    if (event.key === 'ArrowDown') list.querySelector('button')?.focus();
    event.stopPropagation();
  };
  const field = element('input', {type: 'search', id: 'search', placeholder: 'Search: name, op, origin', 'aria-label': 'Search nodes', input: update, keydown: keys});
  list.addEventListener('keydown', (event) => {
    const step = {ArrowDown: 'nextElementSibling', ArrowUp: 'previousElementSibling'}[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    document.activeElement.parentElement[step]?.querySelector('button').focus();
  });
  return {field, list, count};
}
