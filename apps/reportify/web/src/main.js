// SPDX-License-Identifier: Apache-2.0
// The page: what follows the "#" of its address says which view is shown.
import {load} from './data.js';
import {clear, element, link} from './dom.js';
import {showGraph} from './graph_view.js';
import {showHome, showModule, showPasses} from './home.js';
import {showPlacement} from './placement_view.js';
import {showRun} from './run_view.js';
import {showSide} from './side_view.js';
import {startTheme} from './theme.js';

const main = document.getElementById('main');
let leave = () => {};

// "#0/pass-3/before=2" has options behind the view's name.
const optionsOf = (words) => new Map(words.slice(2).map((word) => word.split('=')));

// "#0/pass-2" shows pass 2 of module 0. Every view gives a function that ends it, or nothing.
function viewOf(modules, words) {
  if (words[0] === 'side' && modules[Number(words[1])] && modules[Number(words[2])]) {
    const options = new Map(words.slice(3).map((word) => word.split('=')));
    return {titles: [['Side by side', `#${words.join('/')}`]], show: () => showSide(main, modules, words, options)};
  }
  const module = words[0] === '' ? undefined : modules[Number(words[0])];
  if (!module) return {titles: [], show: () => showHome(main, modules)};
  const home = [module.name, `#${words[0]}`];
  if (words[1] === 'passes') return {titles: [home, ['Buda Reports: Passes', `#${words[0]}/passes`]], show: () => showPasses(main, module, words[0])};
  const pass = module.passes.find((p) => p.id === words.slice(0, 2).join('/'));
  if (pass) {
    const titles = [home, ['Buda Reports: Passes', `#${words[0]}/passes`], [pass.name, `#${pass.id}`]];
    return {titles, show: () => showGraph(main, module, pass, optionsOf(words))};
  }
  if (module.placement === words.slice(0, 2).join('/')) {
    return {titles: [home, ['Placement Reports', `#${module.placement}`]], show: () => showPlacement(main, module, optionsOf(words))};
  }
  if (module.run === words.slice(0, 2).join('/')) {
    return {titles: [home, ['Simulated run', `#${module.run}`]], show: () => showRun(main, module.run, optionsOf(words))};
  }
  return {titles: [home], show: () => showModule(main, module, words[0])};
}

function showPath(titles) {
  const path = clear(document.getElementById('path'));
  path.append(link('Reportify', '#'));
  for (const [text, target] of titles) path.append(element('span', {'aria-hidden': 'true'}, ' › '), link(text, target));
  document.title = ['Reportify', ...titles.map(([text]) => text)].join(' › ');
}

async function show() {
  leave();
  leave = () => {};
  const words = decodeURIComponent(location.hash.slice(1)).split('/');
  // What is large loads beside the list of modules, which will say whether there is such a pass.
  if (/^pass-\d+$/.test(words[1]) && /^\d+$/.test(words[0])) load(`${words[0]}/${words[1]}`).catch(() => {});
  const {modules} = await load('modules');
  const view = viewOf(modules, words);
  showPath(view.titles);
  clear(main);
  try {
    leave = (await view.show()) ?? leave;
  } catch (error) {
    main.append(element('p', {class: 'problem', role: 'alert'}, String(error)));
  }
  document.body.dataset.ready = location.hash;
}

startTheme(document.getElementById('theme'));
window.addEventListener('hashchange', show);
show();
