// SPDX-License-Identifier: Apache-2.0
// The grid of a chip with the ops of an epoch, and beside it the channels of DRAM.
import {shape} from './dom.js';
import {shorten} from './graph_layout.js';
import {COLOURINGS, heatColor} from './placement_model.js';

const CELL = 96, GAP = 4, HEAD = 22, CHANNEL = 150, SPACE = 70, BEND = 0.12;

export function sizeOf(placement) {
  const [rows, cols] = placement.grid;
  return {width: HEAD + cols * CELL + SPACE + CHANNEL, height: HEAD + rows * CELL};
}

function grid(rows, cols) {
  const out = [];
  for (let row = 0; row < rows; ++row) {
    out.push(shape('text', {x: 2, y: HEAD + (row + 0.55) * CELL, class: 'axis'}, String(row)));
    for (let col = 0; col < cols; ++col)
      out.push(shape('rect', {x: HEAD + col * CELL + GAP / 2, y: HEAD + row * CELL + GAP / 2, width: CELL - GAP, height: CELL - GAP, class: 'core'}));
  }
  for (let col = 0; col < cols; ++col) out.push(shape('text', {x: HEAD + (col + 0.45) * CELL, y: 15, class: 'axis'}, String(col)));
  return out;
}

const opBox = (op) => ({x: HEAD + op.at[1] * CELL + GAP, y: HEAD + op.at[0] * CELL + GAP, width: op.size[1] * CELL - 2 * GAP, height: op.size[0] * CELL - 2 * GAP});
const middle = (box) => [box.x + box.width / 2, box.y + box.height / 2];

// Channels stand one below the other; queues of the host's memory have a place of their own below them.
function memoryBox(placement, number) {
  const {height, width} = sizeOf(placement);
  const count = placement.dram + 1;
  const step = Math.min(CELL, (height - HEAD) / count);
  return {x: width - CHANNEL + GAP, y: HEAD + number * step + GAP, width: CHANNEL - 2 * GAP, height: step - 2 * GAP};
}

function memory(placement, epoch) {
  const moved = epoch.traffic.channels.map(([read, written]) => read + written);
  const most = Math.max(1, ...moved);
  const out = [];
  for (let number = 0; number <= placement.dram; ++number) {
    const box = memoryBox(placement, number);
    const isHost = number === placement.dram;
    const bytes = moved[number];
    const title = isHost ? 'memory of the host' : `DRAM channel ${number}${bytes === undefined ? '' : `: ${epoch.traffic.channels[number][0]} bytes read, ${epoch.traffic.channels[number][1]} written while the epoch runs`}`;
    const fill = bytes === undefined ? undefined : heatColor(bytes / most);
    out.push(shape('g', {class: 'channel', tabindex: 0, role: 'img', 'aria-label': title}, shape('title', {}, title),
        shape('rect', {...box, rx: 4, style: fill && `fill:${fill}`}),
        shape('text', {x: box.x + 8, y: box.y + Math.min(20, box.height * 0.7), style: fill && 'fill:#1b1f24'}, isHost ? 'host' : `DRAM ${number}`)));
  }
  return out;
}

// A bent line with a head, and below it a wider one of the paper's colour, which sets it off from boxes of any colour.
function arrow([x1, y1], [x2, y2], kind) {
  const [cx, cy] = [(x1 + x2) / 2 - (y2 - y1) * BEND, (y1 + y2) / 2 + (x2 - x1) * BEND];
  const d = `M${x1},${y1} Q${cx},${cy} ${x2},${y2}`;
  return [shape('path', {d, class: 'casing'}), shape('path', {d, class: `edge ${kind}`, 'marker-end': `url(#${kind})`})];
}

function marker(kind) {
  return shape('marker', {id: kind, viewBox: '0 0 10 10', refX: 9, refY: 5, markerWidth: 12, markerHeight: 12, markerUnits: 'userSpaceOnUse', orient: 'auto-start-reverse'},
      shape('path', {d: 'M0,0 L10,5 L0,10 z', class: kind}));
}

// The places between which an edge goes: an op's middle, or those of a queue's channels.
function ends(placement, epoch, end) {
  if (end.op !== undefined) return [middle(opBox(epoch.ops[end.op]))];
  const channels = [...new Set(placement.queues[end.queue].channels)].filter((c) => c < placement.dram);
  return (channels.length ? channels : [placement.dram]).map((c) => middle(memoryBox(placement, c)));
}

export function edgeShapes(placement, epoch, at, edges) {
  const own = middle(opBox(epoch.ops[at]));
  const reads = edges[at].reads.flatMap((end) => ends(placement, epoch, end).flatMap((from) => arrow(from, own, 'into')));
  const writes = edges[at].writes.flatMap((end) => ends(placement, epoch, end).flatMap((to) => arrow(own, to, 'outof')));
  return [...reads, ...writes];
}

// Names are cut to the box, as many lines as fit.
function label(op, box, text) {
  const letters = Math.max(4, Math.floor((box.width - 8) / 7.3));
  const lines = [shorten(op.name, letters), op.type, text].filter(Boolean).slice(0, Math.max(1, Math.floor(box.height / 16)));
  return lines.map((line, i) => shape('text', {x: box.x + 6, y: box.y + 18 + i * 15, class: i ? 'detail' : 'name'}, line.length > letters ? `${line.slice(0, letters - 1)}…` : line));
}

function opShape(op, epoch, colouring, colors) {
  const box = opBox(op);
  const heat = COLOURINGS[colouring].of?.(op, epoch);
  const fill = COLOURINGS[colouring].of ? (heat ? heatColor(heat.part) : '#c9d1d9') : colors.get(op.type);
  const size = `${op.size[0]}x${op.size[1]} cores`;
  const title = [op.name, op.type, size, heat?.text].filter(Boolean).join(', ');
  return shape('g', {class: 'op', tabindex: 0, role: 'button', 'aria-label': title}, shape('rect', {...box, rx: 4, style: `fill:${fill}`}), ...label(op, box, heat?.text ?? `${op.size[0]}x${op.size[1]}`));
}

// {svg, ops, layer}: the drawing, the shapes of ops by number, and the layer for edges.
export function drawEpoch(placement, epoch, colouring, colors) {
  const {width, height} = sizeOf(placement);
  const ops = epoch.ops.map((op) => opShape(op, epoch, colouring, colors));
  const layer = shape('g', {class: 'edges'});
  const svg = shape('svg', {viewBox: `0 0 ${width} ${height}`, class: 'placement', role: 'group', 'aria-label': `Placement of epoch ${epoch.graph}`},
      shape('defs', {}, marker('into'), marker('outof')), ...grid(...placement.grid), ...memory(placement, epoch), ...ops, layer);
  return {svg, ops, layer};
}
