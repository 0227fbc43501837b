// SPDX-License-Identifier: Apache-2.0
// The chip as its networks see it: nodes at their places, and between them the links of both networks, coloured by what they carried in a run.
import {linksOf, loadsByName, loadText, nodesOf} from './chip_model.js';
import {shape} from './dom.js';
import {shorten} from './graph_layout.js';
import {heatColor} from './placement_model.js';

const STEP = 96, CELL = 62, HEAD = 34, SIDE = 9, STUB = 15;

const centre = (at) => HEAD + at * STEP + CELL / 2;

// Beside its neighbour's, which goes the other way. A link round the edge is a stub where it leaves the chip.
function linkShape(link, [columns, rows]) {
  const [cx, cy] = [centre(link.x), centre(link.y)], half = CELL / 2;
  const [tx, ty] = [link.x + link.dx, link.y + link.dy];
  const leaves = tx < 0 || ty < 0 || tx >= columns || ty >= rows;
  const length = leaves ? STUB : STEP - CELL;
  const side = link.noc ? -SIDE : SIDE;
  const [x1, y1] = [cx + link.dx * half + (link.dy ? side : 0), cy + link.dy * half + (link.dx ? side : 0)];
  const line = shape('line', {x1, y1, x2: x1 + link.dx * length, y2: y1 + link.dy * length, class: link.bytes ? 'link' : 'link unused', style: link.bytes ? `stroke:${heatColor(link.part)}` : undefined, 'stroke-width': link.bytes ? 4 + 7 * Math.min(1, link.part) : 1});
  line.append(shape('title', {}, loadText(link.name, link)));
  return line;
}

function nodeShape(node, fill, text) {
  const box = {x: centre(node.x) - CELL / 2, y: centre(node.y) - CELL / 2, width: CELL, height: CELL};
  const title = [node.place, node.text, text, ...node.loads].filter(Boolean).join('\n');
  return shape('g', {class: `node ${node.kind}`}, shape('title', {}, title), shape('rect', {...box, rx: 4, style: fill && `fill:${fill}`}),
      ...[node.text, text && shorten(text, 8)].filter(Boolean).map((line, i) => shape('text', {x: box.x + 4, y: box.y + 16 + 15 * i, style: fill && 'fill:#14181d'}, line)));
}

// For each worker that an op has: the op's number, by the worker's place on the grid.
function owners(epoch) {
  const out = new Map();
  epoch.ops.forEach((op, number) => {
    for (let row = 0; row < op.size[0]; ++row)
      for (let col = 0; col < op.size[1]; ++col) out.set(`${op.at[0] + row},${op.at[1] + col}`, number);
  });
  return out;
}

// As drawEpoch: {svg, ops, layer}; an op is all its workers.
export function drawChip(placement, epoch, colors) {
  const {chip} = placement, loads = loadsByName(epoch), [columns, rows] = chip.size;
  const own = owners(epoch), parts = epoch.ops.map(() => []), others = [];
  for (const node of nodesOf(chip, loads)) {
    const number = node.at && own.get(node.at.join(','));
    if (number === undefined) others.push(nodeShape(node, node.part === undefined ? undefined : heatColor(node.part)));
    else parts[number].push(nodeShape(node, colors.get(epoch.ops[number].type), epoch.ops[number].name));
  }
  const ops = parts.map((nodes, number) => shape('g', {class: 'op', tabindex: 0, role: 'button', 'aria-label': `${epoch.ops[number].name}, ${epoch.ops[number].type}, ${nodes.length} cores`}, ...nodes));
  const layer = shape('g', {class: 'edges'});
  const links = shape('g', {class: 'links'}, ...linksOf(chip, loads).map((link) => linkShape(link, chip.size)));
  const svg = shape('svg', {viewBox: `0 0 ${2 * HEAD + columns * STEP} ${2 * HEAD + rows * STEP - (STEP - CELL)}`, class: 'placement chip', role: 'group', 'aria-label': `Networks of the chip in epoch ${epoch.graph}`},
      links, ...others, ...ops, layer);
  return {svg, ops, layer};
}
