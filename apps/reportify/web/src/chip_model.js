// SPDX-License-Identifier: Apache-2.0
// What a run's loads say of the nodes of a chip, and of the links between them.

const percent = (part) => `${(100 * part).toFixed(1)} %`;
const IDLE = {part: 0, bytes: 0};

export const hasLoads = (placement, epoch) => Boolean(placement.chip && epoch.loads?.length);
export const loadsByName = (epoch) => new Map((epoch.loads ?? []).map(([name, part, bytes]) => [name, {part, bytes}]));
export const loadText = (name, {part, bytes}) => `${name}: ${percent(part)} of its rate, ${bytes} bytes`;

// Each link of the networks, with its load: network 0 goes to the right and down, network 1 up and to the left, both round the edges.
export function linksOf(chip, loads) {
  const [columns, rows] = chip.size, out = [];
  for (let y = 0; y < rows; ++y)
    for (let x = 0; x < columns; ++x)
      for (const [noc, dx, dy] of [[0, 1, 0], [0, 0, 1], [1, 0, -1], [1, -1, 0]]) {
        const name = `NoC ${noc} ${x}-${y}>${(x + dx + columns) % columns}-${(y + dy + rows) % rows}`;
        out.push({noc, x, y, dx, dy, name, ...(loads.get(name) ?? IDLE)});
      }
  return out;
}

// {x, y, kind, text, loads}: what is at each node of the networks. Workers have `at`, their place on the grid; channels of DRAM have one part of their rate, that of the busier half.
export function nodesOf(chip, loads) {
  const [columns, rows] = chip.size, kinds = new Map();
  chip.dram.forEach((ports, channel) => ports.forEach((port) => kinds.set(port, {kind: 'dram', text: `DRAM ${channel}`, names: [`DRAM ${channel}`, `DRAM ${channel} lower half`, `DRAM ${channel} upper half`]})));
  chip.ethernet.forEach((core) => kinds.set(core, {kind: 'other', text: 'Ethernet'}));
  if (chip.pcie) kinds.set(chip.pcie, {kind: 'other', text: 'PCIe', names: ['host']});
  chip.workers[1].forEach((y, row) => chip.workers[0].forEach((x, col) => kinds.set(`${x}-${y}`, {kind: 'worker', text: `[${row}, ${col}]`, at: [row, col]})));
  const out = [];
  for (let y = 0; y < rows; ++y)
    for (let x = 0; x < columns; ++x) {
      const place = `${x}-${y}`, node = kinds.get(place) ?? {kind: 'none', text: ''};
      const names = [...(node.names ?? []), ...[0, 1].flatMap((noc) => [`output of NoC ${noc} at ${place}`, `input of NoC ${noc} at ${place}`])].filter((name) => loads.has(name));
      const memories = names.filter((name) => name.startsWith('DRAM'));
      out.push({...node, x, y, place, loads: names.map((name) => loadText(name, loads.get(name))), part: memories.length ? Math.max(...memories.map((name) => loads.get(name).part)) : undefined});
    }
  return out;
}
