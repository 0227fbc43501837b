// SPDX-License-Identifier: Apache-2.0
// Two compilations side by side: their figures, and an epoch of each on its grid. An op that both have is shown in both.
import {load} from './data.js';
import {element, factsTable, problem} from './dom.js';
import {drawEpoch} from './placement_drawing.js';
import {COLOURINGS, sharedTypeColors} from './placement_model.js';

const address = ({left, right, epochs, colour}) => `#side/${left}/${right}/left=${epochs[0]}/right=${epochs[1]}/colour=${colour}`;

// Which compilations to show: two lists, from which the address follows.
export function sideForm(modules, state, go) {
  const list = (key, label) => element('label', {}, `${label} `, element('select', {id: key, change: (event) => go({...state, [key]: Number(event.target.value)})},
      ...modules.map((module, at) => element('option', {value: at, selected: at === state[key]}, `${module.name} (${module.folder})`))));
  return [list('left', 'Left'), list('right', 'Right')];
}

// Figures of both, those that differ with a mark; the right ones in relation to the left where they are numbers.
function figures(left, right) {
  const values = new Map(right.facts ?? []);
  const names = [...new Set([...(left.facts ?? []), ...(right.facts ?? [])].map(([name]) => name))];
  const others = new Map(left.facts ?? []);
  const rows = names.map((name) => {
    const [a, b] = [others.get(name) ?? '–', values.get(name) ?? '–'];
    const ratio = parseFloat(b) / parseFloat(a);
    const differs = a !== b;
    return element('tr', {class: differs ? 'differs' : ''}, element('th', {scope: 'row'}, name), element('td', {}, a), element('td', {}, b),
        element('td', {}, differs ? (Number.isFinite(ratio) && ratio > 0 ? `${ratio.toFixed(2)} times` : 'differs') : ''));
  });
  const head = ['', `${left.name} (${left.folder})`, `${right.name} (${right.folder})`, ''].map((text) => element('th', {scope: 'col'}, text));
  return element('table', {class: 'figures'}, element('caption', {}, 'Placements'), element('thead', {}, element('tr', {}, ...head)), element('tbody', {}, ...rows));
}

function pane(placement, side, state, go, colors) {
  const at = state.epochs[side], epoch = placement.epochs[at];
  const chosen = (event) => go({...state, epochs: state.epochs.map((e, other) => (other === side ? Number(event.target.value) : e))});
  const select = element('select', {id: side ? 'right-epoch' : 'left-epoch', change: chosen},
      ...placement.epochs.map((e, number) => element('option', {value: number, selected: number === at}, `${number}: ${e.graph}`)));
  const drawn = drawEpoch(placement, epoch, state.colour, colors);
  const facts = element('div', {class: 'facts-panel', 'aria-live': 'polite'}, ...factsTable('Epoch', epoch.facts));
  return {epoch, drawn, facts, node: element('section', {}, element('label', {}, 'Epoch ', select), element('div', {class: 'board'}, drawn.svg), facts)};
}

// The op with the name, on both sides; what a side does not have is said.
function showOp(panes, name) {
  for (const {epoch, drawn, facts} of panes) {
    const at = epoch.ops.findIndex((op) => op.name === name);
    drawn.ops.forEach((node, other) => node.classList.toggle('chosen', other === at));
    facts.replaceChildren(...(at < 0 ? [element('p', {}, `${name} is not in this epoch.`)] : factsTable(name, epoch.ops[at].facts)));
  }
}

function hideOp(panes) {
  for (const {epoch, drawn, facts} of panes) {
    drawn.ops.forEach((node) => node.classList.remove('chosen'));
    facts.replaceChildren(...factsTable('Epoch', epoch.facts));
  }
}

function watch(panes) {
  for (const {epoch, drawn} of panes)
    drawn.ops.forEach((node, at) => {
      for (const event of ['pointerenter', 'focus']) node.addEventListener(event, () => showOp(panes, epoch.ops[at].name));
      for (const event of ['pointerleave', 'blur']) node.addEventListener(event, () => hideOp(panes));
    });
}

const within = (text, placement) => Math.min(Math.max(0, Number(text ?? 0) || 0), placement.epochs.length - 1);

export async function showSide(main, modules, words, options) {
  const state = {left: Number(words[1]), right: Number(words[2]), colour: options.get('colour') in COLOURINGS ? options.get('colour') : 'type'};
  const chosen = [modules[state.left], modules[state.right]];
  const go = (next) => { location.hash = address(next); };
  main.append(element('div', {class: 'tools'}, ...sideForm(modules, {...state, epochs: [0, 0]}, go)), figures(...chosen));
  const placements = await Promise.all(chosen.map((module) => (module.placement ? load(module.placement) : {problem: `${module.name} has no placement report.`})));
  const failed = placements.filter((p) => p.problem || !p.epochs.length);
  if (failed.length) return void main.append(...failed.map((p) => problem(p.problem ?? 'There are no epochs.')));
  state.epochs = [within(options.get('left'), placements[0]), within(options.get('right'), placements[1])];
  const colors = sharedTypeColors(placements);
  const panes = placements.map((placement, side) => pane(placement, side, state, go, colors));
  watch(panes);
  main.append(element('div', {class: 'sides'}, ...panes.map((p) => p.node)));
}

export const firstSide = (modules) => address({left: 0, right: Math.min(1, modules.length - 1), epochs: [0, 0], colour: 'type'});
