// SPDX-License-Identifier: Apache-2.0
// Data come as scripts, since a page that was opened from disk may load nothing else.
const received = new Map();

globalThis.reportify = {receive: (id, data) => received.set(id, data)};

const asked = new Map();

// The data with this id, which the script data/ID.js hands over. It is asked for once.
export function load(id) {
  if (!asked.has(id)) asked.set(id, ask(id));
  return asked.get(id);
}

function ask(id) {
  return new Promise((resolve, reject) => {
    const script = document.createElement('script');
    script.src = `data/${id}.js`;
    script.onload = () => (received.has(id) ? resolve(received.get(id)) : reject(new Error(`data/${id}.js holds no data`)));
    script.onerror = () => reject(new Error(`data/${id}.js is missing`));
    document.head.append(script);
  }).finally(() => document.querySelector(`script[src="data/${id}.js"]`)?.remove());
}
