// SPDX-License-Identifier: Apache-2.0
// What is drawn of a pass's graph: its nodes, or of a large graph parts, of which some are opened; and what differs from another graph.

// Names are unique among outputs and among all other nodes.
const keyOf = (node) => (node.kind === 'output' ? `out ${node.name}` : `in ${node.name}`);

// What makes two nodes of one name the same, inputs by their names.
function contentOf(graph, node) {
  const inputs = node.inputs.map(([from, port, tms]) => [keyOf(graph.nodes[from]), port, tms]);
  return JSON.stringify([node.op, node.types, inputs, node.attrs, node.precision, node.tags, node.host, node.placed]);
}

// Gives nodes that have no part that of a node which uses them, or else of one that they use.
function placeInParts(nodes) {
  for (let at = nodes.length - 1; at >= 0; --at) {
    const {part, inputs} = nodes[at];
    if (part !== undefined) for (const [from] of inputs) nodes[from].part ??= part;
  }
  for (const node of nodes) node.part ??= nodes[node.inputs.find(([from]) => nodes[from].part !== undefined)?.[0]]?.part ?? 0;
}

// The graph `after`, with nodes that only `before` has; each node's `change` is added, removed, changed or undefined.
export function difference(before, after) {
  const old = new Map(before.nodes.map((node) => [keyOf(node), node]));
  const places = new Map(after.nodes.map((node, at) => [keyOf(node), at]));
  const nodes = after.nodes.map((node) => {
    const was = old.get(keyOf(node));
    const change = !was ? 'added' : contentOf(before, was) === contentOf(after, node) ? undefined : 'changed';
    return {...node, change, was: change === 'changed' ? was : undefined};
  });
  const removed = before.nodes.filter((node) => !places.has(keyOf(node)));
  removed.forEach((node) => places.set(keyOf(node), places.size));
  for (const node of removed) {
    const inputs = node.inputs.map(([from, port, tms]) => [places.get(keyOf(before.nodes[from])), port, tms]);
    nodes.push({...node, inputs, part: undefined, change: 'removed'});
  }
  if (after.nodes.some((node) => node.part !== undefined)) placeInParts(nodes);
  return {...after, nodes};
}

const KIND_ORDER = ['added', 'removed', 'changed'];
export function countChanges(graph) {
  return KIND_ORDER.map((kind) => [kind, graph.nodes.filter((node) => node.change === kind).length]);
}

export const isDivided = (graph) => graph.nodes.some((node) => node.part !== undefined);

// The longest beginning that all names have, up to a separator.
function commonScope(names) {
  let scope = names[0] ?? '';
  for (const name of names) while (!name.startsWith(scope)) scope = scope.slice(0, -1);
  return names.length > 1 ? scope.replace(/[^/.]*$/, '') : scope;
}

// The title of a part: what its names have in common, and its most frequent ops.
function describePart(nodes) {
  const ops = new Map();
  for (const node of nodes.filter((n) => n.kind === 'op')) ops.set(node.op, (ops.get(node.op) ?? 0) + 1);
  const most = [...ops].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, 4);
  const named = nodes.filter((n) => n.kind === 'op');
  const scope = commonScope((named.length ? named : nodes).map((n) => n.name));
  return {scope, first: (named[0] ?? nodes[0]).name, ops: most.map(([op, count]) => `${op} ×${count}`).join(', '), count: nodes.length};
}

// {items, edges}: an item is a node ({id, node}) or a closed part ({id, part, …}); edges go between their ids.
export function visible(graph, opened) {
  const idOf = graph.nodes.map((node, at) => (node.part === undefined || opened.has(node.part) ? `n${at}` : `p${node.part}`));
  const parts = new Map();
  const items = [];
  graph.nodes.forEach((node, at) => {
    if (idOf[at][0] === 'n') items.push({id: idOf[at], at, node});
    else if (parts.has(node.part)) parts.get(node.part).push(node);
    else parts.set(node.part, [node]);
  });
  for (const [part, nodes] of parts) {
    const change = KIND_ORDER.find((kind) => nodes.some((n) => n.change === kind)) && 'changed';
    items.push({id: `p${part}`, part, change, ...describePart(nodes)});
  }
  const edges = new Map();
  graph.nodes.forEach((node, at) => node.inputs.forEach(([from, port, tms]) => {
    const [source, target] = [idOf[from], idOf[at]];
    if (source === target && source[0] === 'p') return;
    const key = `${source} ${target}`;
    const edge = edges.get(key) ?? {source, target, values: 0, label: tms};
    edge.values += 1;
    edges.set(key, edge);
  }));
  return {items, edges: [...edges.values()]};
}
