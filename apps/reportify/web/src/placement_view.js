// SPDX-License-Identifier: Apache-2.0
// Placement reports: an epoch's ops on the grid; what an op reads and writes is shown while the pointer or the focus is on it.
import {drawChip} from './chip_drawing.js';
import {hasLoads} from './chip_model.js';
import {load} from './data.js';
import {clear, element, factsTable, problem} from './dom.js';
import {helpButton, listenTo} from './keys.js';
import {drawEpoch, edgeShapes} from './placement_drawing.js';
import {COLOURINGS, edgesOf, heatColor, typeColors} from './placement_model.js';
import {executionOf, workAt} from './run_model.js';
import {timeSlider} from './run_view.js';

function endName(placement, epoch, end) {
  return end.op !== undefined ? epoch.ops[end.op].name : `${placement.queues[end.queue].name} (queue)`;
}

function opFacts(placement, epoch, at, edges) {
  const op = epoch.ops[at];
  const names = (title, list) => (list.length ? [[title, list.map((end) => endName(placement, epoch, end)).join(', ')]] : []);
  return [element('h2', {}, op.name), element('p', {}, op.type, op.node && op.node !== op.name ? `, from ${op.node}` : ''),
    ...factsTable('Netlist and estimate', op.facts), ...factsTable('Edges', [...names('reads', edges[at].reads), ...names('is read by', edges[at].writes)])];
}

const MOST_LOADS = 12;

function epochFacts(epoch) {
  const loads = (epoch.loads ?? []).slice(0, MOST_LOADS).map(([name, part, bytes]) => [name, `${(100 * part).toFixed(1)} %, ${bytes} bytes`]);
  return [element('h2', {}, epoch.graph), ...factsTable('Epoch', epoch.facts), ...factsTable('Busiest links (bytes of an input)', epoch.traffic.links.map(([link, bytes]) => [link, String(bytes)])),
    ...factsTable('Busiest of the simulated run (part of the rate)', loads)];
}

function legend(epoch, colouring, colors) {
  const swatch = (fill, text) => element('li', {}, element('span', {class: 'swatch', style: `background:${fill}`}), text);
  if (colouring === NETWORKS) return [...[0, 0.25, 0.5, 0.75, 1].map((part) => swatch(heatColor(part), `${100 * part} % of the rate`)), element('li', {}, 'NoC 0 goes right and down, NoC 1 up and left')];
  if (!COLOURINGS[colouring].of) return [...new Set(epoch.ops.map((op) => op.type))].sort().map((type) => swatch(colors.get(type), type));
  const {ends} = COLOURINGS[colouring];
  if (ends) return [swatch(heatColor(0), `correlation ${ends[0]}`), swatch(heatColor(0.5), ''), swatch(heatColor(1), ends[1])];
  return [0, 0.25, 0.5, 0.75, 1].map((part) => swatch(heatColor(part), `${100 * part} %`));
}

// Hovering or focusing an op shows its facts and edges; a click or Enter keeps them until the next.
function watchOps(drawn, {show, hide}) {
  drawn.ops.forEach((node, at) => {
    for (const event of ['pointerenter', 'focus']) node.addEventListener(event, () => show(at));
    for (const event of ['pointerleave', 'blur']) node.addEventListener(event, hide);
    node.addEventListener('click', () => node.focus());
  });
}

// Another drawing, of the nodes and links of the networks; where a run says what they carried.
const NETWORKS = 'networks';

function selects(placement, state, change) {
  const select = (id, name, key, options) => element('label', {}, `${name} `, element('select', {id, change: (event) => change({...state, [key]: event.target.value})},
      ...options.map(([value, text]) => element('option', {value, selected: String(value) === String(state[key])}, text))));
  return [select('epoch', 'Epoch', 'epoch', placement.epochs.map((epoch, at) => [at, `${at}: ${epoch.graph}`])),
    select('colour', 'Colour', 'colour', [...Object.entries(COLOURINGS).map(([key, {title}]) => [key, title]), ...(hasLoads(placement, placement.epochs[state.epoch]) ? [[NETWORKS, 'links and DRAM channels']] : [])])];
}

const addressOf = (id, {epoch, colour}) => `#${id}/epoch=${epoch}/colour=${colour}`;

// Of a model that has run: a slider over the epoch's time, at which ops that do not work are faint.
async function slider(module, epoch, drawn) {
  const run = module.run ? await load(module.run) : undefined;
  const execution = run && !run.problem ? executionOf(run, epoch.graph) : undefined;
  if (!execution) return [];
  return [timeSlider(execution, (cycle) => {
    const works = workAt(execution.ops, cycle);
    const working = new Set(execution.ops.filter((op, at) => works[at] !== undefined).map((op) => op.name));
    drawn.ops.forEach((node, at) => node.classList.toggle('idle', !working.has(epoch.ops[at].name)));
  })];
}

export async function showPlacement(main, module, options) {
  const id = module.placement, placement = await load(id);
  if (placement.problem) return void main.append(problem(placement.problem));
  if (!placement.epochs.length) return void main.append(element('p', {}, 'There are no epochs.'));
  const last = placement.epochs.length - 1;
  const state = {epoch: Math.min(last, Math.max(0, Number(options.get('epoch') ?? 0) || 0)), colour: options.get('colour') ?? 'type'};
  const epoch = placement.epochs[state.epoch];
  const networks = state.colour === NETWORKS && hasLoads(placement, epoch);
  if (!networks && !(state.colour in COLOURINGS)) state.colour = 'type';
  const colors = typeColors(placement), edges = edgesOf(placement, epoch);
  const drawn = networks ? drawChip(placement, epoch, colors) : drawEpoch(placement, epoch, state.colour, colors);
  const go = (next) => { location.hash = addressOf(id, next); };
  const step = (by) => () => go({...state, epoch: Math.min(last, Math.max(0, state.epoch + by))});
  const keys = [['n', 'N', 'next epoch', step(1)], ['p', 'P', 'previous epoch', step(-1)], ['Escape', 'Esc', 'leave the op', () => document.activeElement.blur()]];
  const help = helpButton([['', 'Tab', 'next op'], ...keys]);
  const side = element('aside', {class: 'facts-panel', 'aria-live': 'polite'}, ...epochFacts(epoch));
  watchOps(drawn, {
    show: (at) => {
      if (!networks) clear(drawn.layer).append(...edgeShapes(placement, epoch, at, edges));
      side.replaceChildren(...opFacts(placement, epoch, at, edges));
      drawn.ops.forEach((node, other) => node.classList.toggle('chosen', other === at));
    },
    hide: () => {
      const focused = drawn.ops.indexOf(document.activeElement);
      if (focused >= 0) return drawn.ops[focused].dispatchEvent(new Event('focus'));
      clear(drawn.layer);
      side.replaceChildren(...epochFacts(epoch));
      drawn.ops.forEach((node) => node.classList.remove('chosen'));
    },
  });
  main.classList.add('drawing');
  main.append(element('div', {class: 'tools'}, ...selects(placement, state, go), ...await slider(module, epoch, drawn), help.button, help.dialog, element('ul', {class: 'legend'}, ...legend(epoch, state.colour, colors)),
      element('span', {class: 'note'}, networks ? 'of the last execution in the simulated run' : `${epoch.ops.length} ops; orange: reads, blue: writes`)),
  element('div', {class: 'split'}, element('div', {class: 'board'}, drawn.svg), side));
  const stop = listenTo(keys);
  return () => {
    stop();
    main.classList.remove('drawing');
  };
}
