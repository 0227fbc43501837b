// SPDX-License-Identifier: Apache-2.0
// What is computed of a placement: who reads whom, colours, heat.

// For each op of the epoch: {reads, writes}, lists of {op} or {queue}.
export function edgesOf(placement, epoch) {
  const edges = epoch.ops.map(() => ({reads: [], writes: []}));
  epoch.ops.forEach((op, at) => op.inputs.forEach((input) => {
    edges[at].reads.push(input);
    if (input.op !== undefined) edges[input.op].writes.push({op: at});
  }));
  const names = new Map(epoch.ops.map((op, at) => [op.name, at]));
  placement.queues.forEach((queue, number) => names.has(queue.writer) && edges[names.get(queue.writer)].writes.push({queue: number}));
  return edges;
}

// Types have colours by their order, so that those of one report do not change between its epochs.
export const typeColors = (placement) => sharedTypeColors([placement]);

// Of several reports that are shown together.
export function sharedTypeColors(placements) {
  const types = [...new Set(placements.flatMap((p) => p.epochs).flatMap((epoch) => epoch.ops.map((op) => op.type)))].sort((a, b) => (b === 'matmul') - (a === 'matmul') || (a < b ? -1 : 1));
  return new Map(types.map((type, at) => [type, `hsl(${Math.round((28 + at * 137.5) % 360)} 55% ${at % 2 ? 62 : 54}%)`]));
}

const percent = (part) => `${(100 * part).toFixed(1)} %`;

// Ways to colour ops: title, and for an op of an epoch the part from 0 to 1 and its text; type has no heat.
export const COLOURINGS = {
  type: {title: 'op type'},
  l1: {title: 'L1 in use', of: (op) => (op.l1?.[1] ? {part: op.l1[0] / op.l1[1], text: `L1 ${percent(op.l1[0] / op.l1[1])}`} : undefined)},
  kernel: {title: 'kernel time', of: (op, epoch) => heatOf(op.kernel, epoch.ops.map((o) => o.kernel))},
  accuracy: {title: 'accuracy against fp32', of: (op) => accuracyHeat(op.accuracy), ends: ['1 − 1e-6', '0.9']},
  cycles: {title: 'time of the slowest of kernel and transfers', of: (op, epoch) => heatOf(op.cycles, epoch.ops.map((o) => o.cycles))},
};

// From a correlation of 1 - 1e-6 and above to one of 0.9 and below; the same shade is the same loss everywhere.
export function accuracyHeat(accuracy) {
  if (!accuracy) return undefined;
  const [correlation, error] = accuracy;
  const errorText = `largest error ${error.toPrecision(3)}`;
  if (correlation === null) return {part: 0, text: errorText};
  const loss = Math.max(1 - correlation, 1e-12);
  return {part: Math.min(1, Math.max(0, (Math.log10(loss) + 6) / 5)), text: `correlation ${correlation.toFixed(6)}, ${errorText}`};
}

function heatOf(cycles, all) {
  const most = Math.max(1, ...all);
  return {part: cycles / most, text: `${cycles} cycles`};
}

// From pale to red; readable in both themes, and by lightness alone.
// (With commas, which cytoscape wants.)
export const heatColor = (part) => `hsl(${Math.round(50 - 50 * Math.min(1, part))}, 85%, ${Math.round(82 - 20 * Math.min(1, part))}%)`;
