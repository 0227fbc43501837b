// SPDX-License-Identifier: Apache-2.0
// Elements. Texts from reports only ever become text nodes and attribute values, never markup.
export function element(name, attributes = {}, ...children) {
  const out = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === 'function') out.addEventListener(key, value);
    else if (value !== undefined && value !== false) out.setAttribute(key, value === true ? '' : value);
  }
  out.append(...children);
  return out;
}

// The same for drawings.
export function shape(name, attributes = {}, ...children) {
  const out = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) if (value !== undefined) out.setAttribute(key, value);
  out.append(...children);
  return out;
}

export function clear(node) {
  node.replaceChildren();
  return node;
}

// `target` is made by the page, not by a report.
export const link = (text, target) => element('a', {href: target}, text);

// A table of names and values; nothing for an empty one.
export function factsTable(title, facts) {
  if (!facts?.length) return [];
  const rows = facts.map(([name, value]) => element('tr', {}, element('th', {scope: 'row'}, name), element('td', {}, value)));
  return [element('table', {class: 'facts'}, element('caption', {}, title), ...rows)];
}

// A report's own text, shown where what it tells of would be.
export const problem = (text) => element('pre', {class: 'problem', role: 'alert'}, text);
