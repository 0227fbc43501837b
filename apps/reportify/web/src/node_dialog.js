// SPDX-License-Identifier: Apache-2.0
// All that is known of a node.
import {element, factsTable} from './dom.js';

function neighbours(graph, title, list, goTo) {
  if (!list.length) return [];
  const items = list.map(([at, note]) => element('li', {}, element('button', {type: 'button', click: () => goTo(at)}, graph.nodes[at].name), note ? ` ${note}` : ''));
  return [element('h3', {}, title), element('ul', {}, ...items)];
}

function changeOf(node) {
  if (!node.change) return [];
  const table = (title, n) => factsTable(title, [['op', n.op], ...n.types.map((t, i) => [`result ${i}`, t]), ...(n.attrs ?? []), ...(n.precision ?? [])]);
  return [element('p', {class: node.change}, `This node was ${node.change}.`), ...(node.was ? table('Before', node.was) : [])];
}

// Fills and opens `dialog`. `goTo(at)` shows another node.
export function openNode(dialog, graph, at, goTo) {
  const node = graph.nodes[at];
  const users = [];
  graph.nodes.forEach((user, place) => user.inputs.forEach(([from], input) => from === at && users.push([place, `input ${input}`])));
  const inputs = node.inputs.map(([from, port, tms], input) => [from, [`input ${input}`, port ? `result ${port}` : '', tms].filter(Boolean).join(', ')]);
  const close = element('button', {type: 'button', class: 'close', 'aria-label': 'Close', click: () => dialog.close()}, '✕');
  dialog.replaceChildren(close, element('h2', {}, node.name), element('p', {}, `${node.kind === 'op' ? node.op : node.kind}${node.host ? ', on the host' : ''}`),
      ...changeOf(node),
      ...factsTable('Results', node.types.map((type, i) => [String(i), type])), ...factsTable('Attributes', node.attrs),
      ...factsTable('Precision', node.precision), ...factsTable('From the model', node.origins), ...factsTable('Placement', node.placed),
      ...factsTable('Tags', node.tags), ...neighbours(graph, 'Inputs', inputs, goTo), ...neighbours(graph, 'Used by', users, goTo));
  dialog.close();
  dialog.show();
  close.focus();
}
