// SPDX-License-Identifier: Apache-2.0
// The graph of a pass, fit to the window; with what it changed of an earlier pass.
import {load} from './data.js';
import {element, problem} from './dom.js';
import {draw} from './graph_drawing.js';
import {countChanges, difference, isDivided} from './graph_model.js';
import {helpButton, listenTo} from './keys.js';
import {openNode} from './node_dialog.js';
import {searchField} from './search.js';

const STEP = 80;

async function graphOf(module, pass, before) {
  const graph = await load(pass.id);
  const earlier = module.passes[Number(before)];
  if (graph.problem || before === undefined || !earlier) return graph;
  const old = await load(earlier.id);
  return old.problem ? old : difference(old, graph);
}

// Which earlier or later pass the graph is compared with.
function comparison(module, pass, before) {
  const choose = (event) => { location.hash = event.target.value === '' ? `#${pass.id}` : `#${pass.id}/before=${event.target.value}`; };
  const options = module.passes.map((other, at) => (other === pass ? '' : element('option', {value: at, selected: String(at) === before}, other.name)));
  return element('label', {}, 'Compare with ', element('select', {id: 'compare', change: choose}, element('option', {value: ''}, 'nothing'), ...options.filter(Boolean)));
}

// Of a graph whose ops' accuracy is known: whether colours show it.
function overlay(pass, graph, options) {
  if (!graph.nodes.some((node) => node.accuracy)) return [];
  const change = (event) => { location.hash = event.target.checked ? `#${pass.id}/accuracy=on` : `#${pass.id}`; };
  return [element('label', {}, element('input', {type: 'checkbox', id: 'accuracy', checked: options.get('accuracy') === 'on', change}), ' Accuracy')];
}

function passKeys(module, pass) {
  const at = module.passes.indexOf(pass);
  const go = (other) => other && (location.hash = `#${other.id}`);
  return [['n', 'N', 'next pass', () => go(module.passes[at + 1])], ['p', 'P', 'previous pass', () => go(module.passes[at - 1])]];
}

function drawingKeys(drawing, field, dialog) {
  const zoom = (factor) => () => drawing().zoom(factor);
  const move = (x, y) => () => drawing().move(x, y);
  return [
    ['f', 'F', 'fit the graph to the window', () => drawing().fit()], ['+', '+', 'zoom in', zoom(1.3)], ['-', '−', 'zoom out', zoom(1 / 1.3)],
    ['ArrowLeft', '←', 'move', move(STEP, 0)], ['ArrowRight', '→', 'move', move(-STEP, 0)], ['ArrowUp', '↑', 'move', move(0, STEP)],
    ['ArrowDown', '↓', 'move', move(0, -STEP)], ['/', '/', 'search', () => field.focus()], ['c', 'C', 'close all parts', () => drawing().closeAll()],
    ['Escape', 'Esc', 'close the dialog', () => dialog.close()],
  ];
}

function summary(graph) {
  const changes = graph.nodes.some((node) => node.change) ? `; ${countChanges(graph).map(([kind, count]) => `${count} ${kind}`).join(', ')}` : '';
  return `${graph.nodes.length} nodes, ${graph.level} level${isDivided(graph) ? ', drawn in parts: click one to open it' : ''}${changes}`;
}

export async function showGraph(main, module, pass, options) {
  const before = options.get('before');
  const graph = await graphOf(module, pass, before);
  if (graph.problem) {
    main.append(problem(graph.problem));
    return undefined;
  }
  main.classList.add('drawing');
  const dialog = element('dialog', {class: 'side', 'aria-label': 'Node'});
  const canvas = element('div', {class: 'canvas', role: 'img', 'aria-label': `${pass.name}: ${summary(graph)}. The search lists its nodes.`});
  let drawing;
  const goTo = (at) => { drawing.goTo(at); openNode(dialog, graph, at, goTo); };
  const {field, list, count} = searchField(graph, goTo);
  const keys = [...drawingKeys(() => drawing, field, dialog), ...passKeys(module, pass)];
  const help = helpButton(keys);
  const button = (id, text, click) => element('button', {type: 'button', id, click}, text);
  const tools = element('div', {class: 'tools', role: 'toolbar', 'aria-label': 'Graph'}, button('fit', 'Fit', () => drawing.fit()),
      button('in', '+', () => drawing.zoom(1.3)), button('out', '−', () => drawing.zoom(1 / 1.3)),
      ...(isDivided(graph) ? [button('close-parts', 'Close all parts', () => drawing.closeAll())] : []),
      field, count, comparison(module, pass, before), ...overlay(pass, graph, options), help.button, help.dialog, element('span', {class: 'note'}, summary(graph)));
  main.append(tools, element('div', {class: 'stage'}, canvas, list, dialog));
  // Last, since it takes the room that the others leave.
  drawing = draw(canvas, graph, {choose: (at) => openNode(dialog, graph, at, goTo), open: (part) => drawing.toggle(part), byAccuracy: options.get('accuracy') === 'on'});
  // For tests, which cannot see what is on a canvas.
  canvas.drawing = drawing;
  const stopKeys = listenTo(keys);
  return () => {
    stopKeys();
    drawing.end();
    main.classList.remove('drawing');
  };
}
