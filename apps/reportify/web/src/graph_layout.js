// SPDX-License-Identifier: Apache-2.0
// Texts in the drawing's boxes, and where these are.
import {Graph, layout} from '@dagrejs/dagre';

const MOST_LETTERS = 44, LETTER = 6.6, LINE = 15, MARGIN = 14;

export const shorten = (text, most = MOST_LETTERS) => (text.length <= most ? text : `…${text.slice(text.length - most + 1)}`);
const cut = (text, most = MOST_LETTERS) => (text.length <= most ? text : `${text.slice(0, most - 1)}…`);

const shapeOf = (type) => type.match(/\[[^\]]*\]/)?.[0] ?? type;

function nodeLines(node) {
  const attributes = (node.attrs ?? []).map(([key, value]) => `${key}=${value}`).join(', ');
  const out = [shorten(node.name)];
  if (node.kind === 'op') out.push(cut(attributes ? `${node.op} (${attributes})` : node.op));
  if (node.types.length) out.push(cut(node.types.map(shapeOf).join(' ')));
  return out;
}

function partLines(part) {
  return [shorten(part.scope || part.first), cut(part.ops || 'weights'), `${part.count} nodes`];
}

// Gives each item `lines`, `width`, `height`, `x` and `y`; one drawing is always laid out the same.
export function place({items, edges}) {
  const graph = new Graph({multigraph: true});
  graph.setGraph({rankdir: 'TB', nodesep: 18, ranksep: 34, ranker: 'tight-tree'});
  for (const item of items) {
    item.lines = item.node ? nodeLines(item.node) : partLines(item);
    const round = item.node && item.node.kind !== 'op' ? 1.25 : 1;
    item.width = (Math.max(...item.lines.map((line) => line.length)) * LETTER + MARGIN) * round;
    item.height = (item.lines.length * LINE + MARGIN) * round;
    graph.setNode(item.id, {width: item.width, height: item.height});
  }
  edges.forEach((edge, at) => graph.setEdge(edge.source, edge.target, {}, String(at)));
  layout(graph);
  for (const item of items) Object.assign(item, {x: graph.node(item.id).x, y: graph.node(item.id).y});
}
