// SPDX-License-Identifier: Apache-2.0
// What is computed of a run's executions.

// For each op the part of the time in which its kernels work at this cycle; undefined where it does nothing.
export function workAt(ops, cycle) {
  return ops.map(({bars}) => bars.find(([, , begin, end]) => begin <= cycle && cycle < end)?.[4]);
}

// The execution of a graph whose ops are known; a chip's graph may have run together with others'.
export function executionOf(run, graph) {
  return run.executions.find((execution) => execution.ops.length && execution.graph.split(',').some((name) => name.trim() === graph));
}

// Round steps for an axis, at most ten.
export function ticks(begin, end) {
  const span = Math.max(end - begin, 1), power = 10 ** Math.floor(Math.log10(span / 10));
  const step = Math.max(1, [1, 2, 5, 10].map((n) => n * power).find((n) => span / n <= 10));
  const out = [];
  for (let at = Math.ceil(begin / step) * step; at <= end && out.length < 12; at += step) out.push(at);
  return out;
}
