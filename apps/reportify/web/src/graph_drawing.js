// SPDX-License-Identifier: Apache-2.0
// The drawing of a graph on a canvas: wheel zooms, dragging moves.
import cytoscape from 'cytoscape';
import {place} from './graph_layout.js';
import {visible} from './graph_model.js';
import {accuracyHeat, heatColor} from './placement_model.js';
import {color as sheetColor} from './theme.js';

const LIGHT_TEXT = '#ffffff', FEWEST_ZOOM = 0.01, MOST_ZOOM = 4, MARGIN = 24;

function fill(item) {
  if (!item.node) return 'part';
  const {kind, host} = item.node;
  if (kind === 'op') return host ? 'host' : 'op';
  return {input: 'activation', parameter: 'parameter', constant: 'constant', output: 'output'}[kind];
}

// Lines stay visible when the whole of a large graph is fit to the window.
const lineWidth = (zoom) => Math.max(1.4, 0.7 / zoom);

function style(zoom) {
  const known = new Map();  // the style sheet is asked once for each colour, not for each node
  const color = (name) => known.get(name) ?? known.set(name, sheetColor(name)).get(name);
  const ink = color('ink');
  return [
    {selector: 'node', style: {
      label: 'data(label)', width: 'data(width)', height: 'data(height)', shape: 'data(shape)', 'background-color': (n) => n.data('heat') ?? color(n.data('fill')),
      color: (n) => (n.data('heat') ? '#1b1f24' : ['parameter', 'constant'].includes(n.data('fill')) ? LIGHT_TEXT : ink), 'text-valign': 'center', 'text-halign': 'center',
      'text-wrap': 'wrap', 'font-family': 'ui-monospace, monospace', 'font-size': 11, 'border-width': (n) => (n.data('change') ? 3 : 1),
      'border-color': (n) => color(n.data('change') ?? 'edge'), 'border-style': (n) => (n.data('change') === 'removed' ? 'dashed' : 'solid'),
      'min-zoomed-font-size': 5}},
    {selector: 'edge', style: {
      width: lineWidth(zoom), 'line-color': color('edge'), 'target-arrow-color': color('edge'), 'target-arrow-shape': 'triangle', 'curve-style': 'bezier',
      'arrow-scale': 0.8}},
    {selector: 'edge.into', style: {width: 3, 'line-color': color('into'), 'target-arrow-color': color('into'), 'z-index': 9}},
    {selector: 'edge.outof', style: {width: 3, 'line-color': color('outof'), 'target-arrow-color': color('outof'), 'z-index': 9}},
    {selector: 'node.chosen', style: {'border-width': 4, 'border-color': color('accent')}},
    {selector: 'node.dim', style: {opacity: 0.25}},
  ];
}

// By accuracy: ops of which none is known keep their colour.
function heatOfItem(item) {
  const heat = accuracyHeat(item.node?.accuracy);
  return heat && heatColor(heat.part);
}

function elementsOf(drawn, byAccuracy) {
  const nodes = drawn.items.map((item) => ({
    data: {id: item.id, at: item.at, part: item.part, label: item.lines.join('\n'), width: item.width, height: item.height, fill: fill(item), heat: byAccuracy ? heatOfItem(item) : undefined,
      change: item.node?.change ?? item.change, shape: !item.node ? 'cut-rectangle' : item.node.kind === 'op' ? 'rectangle' : 'ellipse'},
    position: {x: item.x, y: item.y},
  }));
  const edges = drawn.edges.map((edge, at) => ({data: {id: `e${at}`, source: edge.source, target: edge.target}}));
  return [...nodes, ...edges];
}

// Where the whole drawing fills a window; cytoscape's own fit() computes the style of every element for it.
function viewportOf(items, width, height) {
  const box = items.reduce((b, i) => ({
    left: Math.min(b.left, i.x - i.width / 2), right: Math.max(b.right, i.x + i.width / 2),
    top: Math.min(b.top, i.y - i.height / 2), bottom: Math.max(b.bottom, i.y + i.height / 2)}),
  {left: Infinity, right: -Infinity, top: Infinity, bottom: -Infinity});
  if (items.length === 0) return {zoom: 1, pan: {x: 0, y: 0}};
  const most = Math.min((width - 2 * MARGIN) / (box.right - box.left), (height - 2 * MARGIN) / (box.bottom - box.top));
  const zoom = Math.min(MOST_ZOOM, Math.max(FEWEST_ZOOM, most));
  return {zoom, pan: {x: (width - zoom * (box.left + box.right)) / 2, y: (height - zoom * (box.top + box.bottom)) / 2}};
}

// The canvas in `container`, and what can be done to it. `choose(at)` is called for a node, `open(part)` for a part.
export function draw(container, graph, {choose, open, byAccuracy = false}) {
  const opened = new Set();
  let drawn = placed();
  const first = viewportOf(drawn.items, container.clientWidth, container.clientHeight);
  const cy = cytoscape({container, elements: elementsOf(drawn, byAccuracy), style: style(first.zoom), layout: {name: 'preset', fit: false}, ...first,
    minZoom: FEWEST_ZOOM, maxZoom: MOST_ZOOM, boxSelectionEnabled: false, autoungrabify: true});
  const fit = () => cy.viewport(viewportOf(drawn.items, cy.width(), cy.height()));

  function placed() {
    const shown = visible(graph, opened);
    place(shown);
    return shown;
  }
  function redraw() {
    drawn = placed();
    cy.elements().remove();
    cy.add(elementsOf(drawn, byAccuracy));
  }
  function mark(at) {
    cy.elements().removeClass('chosen into outof');
    const node = cy.getElementById(`n${at}`).addClass('chosen');
    node.incomers('edge').addClass('into');
    node.outgoers('edge').addClass('outof');
    return node;
  }
  // Shows a node in the middle of the window, for which its part is opened.
  function goTo(at) {
    const {part} = graph.nodes[at];
    if (part !== undefined && !opened.has(part)) {
      opened.add(part);
      redraw();
    }
    const node = mark(at);
    cy.zoom(Math.max(cy.zoom(), 1));
    cy.center(node);
  }
  function toggle(part) {
    opened.has(part) ? opened.delete(part) : opened.add(part);
    redraw();
    const shown = opened.has(part) ? cy.nodes().filter((n) => graph.nodes[n.data('at')]?.part === part) : cy.getElementById(`p${part}`);
    cy.fit(shown, 60);
  }
  cy.on('tap', 'node', ({target}) => {
    if (target.data('part') !== undefined) return open(target.data('part'));
    mark(target.data('at'));
    choose(target.data('at'));
  });
  const widen = () => cy.style().selector('edge').style({width: lineWidth(cy.zoom())}).update();
  let waiting = 0;
  cy.on('zoom', () => { waiting ||= requestAnimationFrame(() => { waiting = 0; widen(); }); });
  const restyle = () => cy.style(style(cy.zoom()));
  document.addEventListener('theme', restyle);
  return {
    cy, fit, goTo, toggle,
    closeAll: () => { opened.clear(); redraw(); fit(); },
    opened: () => opened.size,
    zoom: (factor) => cy.zoom({level: cy.zoom() * factor, renderedPosition: {x: cy.width() / 2, y: cy.height() / 2}}),
    move: (x, y) => cy.panBy({x, y}),
    end: () => {
      cancelAnimationFrame(waiting);
      document.removeEventListener('theme', restyle);
      cy.destroy();
    },
  };
}
