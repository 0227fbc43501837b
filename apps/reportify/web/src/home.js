// SPDX-License-Identifier: Apache-2.0
// The landing page, a row for each module; the reports of a module; its passes.
import {element, factsTable, link, problem} from './dom.js';
import {firstSide} from './side_view.js';

const COLUMNS = ['device', 'ops', 'epochs', 'cores', 'estimate'];

export function showHome(main, modules) {
  const head = ['module', 'folder', ...COLUMNS, 'passes'].map((text) => element('th', {scope: 'col'}, text));
  const rows = modules.map((module, number) => {
    const facts = new Map(module.facts ?? []);
    const cells = [module.folder, ...COLUMNS.map((c) => facts.get(c) ?? (module.problem ? '!' : '–')), String(module.passes.length)];
    return element('tr', {}, element('th', {scope: 'row'}, link(module.name, `#${number}`)), ...cells.map((text) => element('td', {}, text)));
  });
  main.append(element('h1', {}, 'Modules'),
      element('table', {class: 'list'}, element('thead', {}, element('tr', {}, ...head)), element('tbody', {}, ...rows)));
  if (modules.length > 1) main.append(element('p', {}, link('Two compilations side by side', firstSide(modules))));
}

function reportLinks(module, number) {
  const out = [];
  if (module.passes.length) out.push(link('Buda Reports: Passes', `#${number}/passes`));
  if (module.placement) out.push(link('Placement Reports', `#${module.placement}`));
  if (module.run) out.push(link('Simulated run', `#${module.run}`));
  return out;
}

export function showModule(main, module, number) {
  main.append(element('h1', {}, module.name));
  main.append(element('ul', {class: 'reports'}, ...reportLinks(module, number).map((a) => element('li', {}, a))));
  if (module.problem) main.append(problem(module.problem));
  main.append(...factsTable('Placement', module.facts));
}

export function showPasses(main, module, number) {
  main.append(element('h1', {}, 'Buda Reports: Passes'));
  const items = module.passes.map((pass) => {
    const compare = pass.before !== undefined ? [' ', element('a', {href: `#${pass.id}/before=${pass.before}`, class: 'minor', 'aria-label': `What ${pass.name} changed`}, 'changes')] : [];
    return element('li', {}, link(pass.name, `#${pass.id}`), ...compare);
  });
  main.append(element('ol', {class: 'reports'}, ...items));
}
