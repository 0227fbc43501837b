// SPDX-License-Identifier: Apache-2.0
// A simulated run: its epochs one after the other, and the ops of one, a bar for each input.
import {load} from './data.js';
import {element, factsTable, problem, shape} from './dom.js';
import {shorten} from './graph_layout.js';
import {helpButton, listenTo} from './keys.js';
import {ticks, workAt} from './run_model.js';

const NAMES = 260, WIDTH = 1000, ROW = 18, TOP = 22;

// `x` gives the place of a cycle.
function scale(begin, end) {
  const span = Math.max(end - begin, 1e-9);
  return (cycle) => NAMES + (WIDTH * (Math.min(Math.max(cycle, begin), end) - begin)) / span;
}

function axis(begin, end, x, height) {
  // The last number stands before its line where it would be cut.
  const text = (at, isCut) => shape('text', {x: x(at) + (isCut ? -2 : 2), y: TOP - 8, 'text-anchor': isCut ? 'end' : 'start'}, String(at));
  return ticks(begin, end).map((at) => shape('g', {class: 'axis'}, shape('line', {x1: x(at), x2: x(at), y1: TOP - 4, y2: height}), text(at, x(at) > NAMES + WIDTH - 60)));
}

function bar(x, y, [begin, end], kind, title, work) {
  const width = Math.max(x(end) - x(begin), 1), height = ROW - 4;
  const shapes = [shape('rect', {x: x(begin), y, width, height, class: kind})];
  if (work !== undefined) shapes.push(shape('rect', {x: x(begin), y: y + height * (1 - work), width, height: height * work, class: 'work'}));
  return shape('g', {}, shape('title', {}, title), ...shapes);
}

function epochChart(run, chosen, pick) {
  const begin = Math.min(...run.executions.map((e) => e.begin)), end = Math.max(...run.executions.map((e) => e.end));
  const x = scale(begin, end), height = TOP + ROW;
  const bars = run.executions.map((execution, at) => {
    const node = bar(x, TOP, [execution.begin, execution.end], `epoch shade${at % 2}${execution === chosen ? ' chosen' : ''}`, `${execution.graph}, cycles ${execution.begin} to ${execution.end}`);
    if (execution.ops.length) node.addEventListener('click', () => pick(execution));
    return node;
  });
  return shape('svg', {viewBox: `0 0 ${NAMES + WIDTH + 20} ${height}`, class: 'chart', role: 'img', 'aria-label': `${run.executions.length} executions of epochs`},
      ...axis(begin, end, x, height), shape('text', {x: 4, y: TOP + 12}, 'epochs'), ...bars);
}

function opChart(execution) {
  const x = scale(execution.begin, execution.end), height = TOP + execution.ops.length * ROW;
  const rows = execution.ops.map((op, at) => {
    const y = TOP + at * ROW;
    const bars = op.bars.map(([first, last, begin, end, work], i) => {
      const what = first === last ? `input ${first}` : `inputs ${first} to ${last}`;
      return bar(x, y, [begin, end], `input shade${i % 2}`, `${op.name}, ${what}, cycles ${begin} to ${end}, kernels work ${(100 * work).toFixed(0)} %`, Math.min(1, Math.max(0, work)));
    });
    return shape('g', {class: 'row'}, shape('text', {x: 4, y: y + 12}, `${shorten(op.name, 32)} (${op.cores})`), ...bars);
  });
  const line = shape('line', {class: 'now', y1: TOP - 4, y2: height, x1: NAMES, x2: NAMES});
  const svg = shape('svg', {viewBox: `0 0 ${NAMES + WIDTH + 20} ${height}`, class: 'chart', role: 'img', 'aria-label': `Ops of ${execution.graph} over time`}, ...axis(execution.begin, execution.end, x, height), ...rows, line);
  return {svg, moveTo: (cycle) => ['x1', 'x2'].forEach((end) => line.setAttribute(end, x(cycle)))};
}

// A slider over the execution's time; `change(cycle)` is called when it moves.
export function timeSlider(execution, change) {
  const output = element('output', {for: 'time'});
  const slide = () => {
    const cycle = execution.begin + (execution.end - execution.begin) * (Number(slider.value) / 1000);
    const working = workAt(execution.ops, cycle).filter((work) => work !== undefined).length;
    output.textContent = `cycle ${Math.round(cycle)}: ${working} of ${execution.ops.length} ops work`;
    change(cycle);
  };
  const slider = element('input', {type: 'range', id: 'time', min: 0, max: 1000, value: 0, input: slide});
  return element('label', {class: 'time'}, 'Time ', slider, ' ', output);
}

export async function showRun(main, id, options) {
  const run = await load(id);
  if (run.problem) return void main.append(problem(run.problem));
  const detailed = run.executions.filter((execution) => execution.ops.length);
  const at = Math.min(detailed.length - 1, Math.max(0, Number(options.get('epoch') ?? 0) || 0));
  const go = (epoch) => { location.hash = `#${id}/epoch=${Math.min(detailed.length - 1, Math.max(0, epoch))}`; };
  main.append(element('h1', {}, 'Simulated run'), ...factsTable('Run', run.facts));
  if (!detailed.length) return void main.append(element('p', {}, 'The run recorded no inputs of ops: runner --perf-level 1 does.'));
  const keys = [['n', 'N', 'next epoch', () => go(at + 1)], ['p', 'P', 'previous epoch', () => go(at - 1)]];
  const help = helpButton(keys);
  const chart = opChart(detailed[at]);
  const choice = element('label', {}, 'Epoch ', element('select', {id: 'epoch', change: (event) => go(Number(event.target.value))},
      ...detailed.map((execution, number) => element('option', {value: number, selected: number === at}, execution.graph))));
  const facts = run.epochs.find((epoch) => epoch.graph === detailed[at].graph)?.facts;
  main.append(epochChart(run, detailed[at], (execution) => go(detailed.indexOf(execution))), element('div', {class: 'tools'}, choice, timeSlider(detailed[at], chart.moveTo), help.button, help.dialog),
      chart.svg, ...factsTable(`Epoch ${detailed[at].graph}`, facts));
  return listenTo(keys);
}
