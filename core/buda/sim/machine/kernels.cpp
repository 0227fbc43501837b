// SPDX-License-Identifier: Apache-2.0
// Kernels: step by step, as soon as tiles and room are there.
#include <buda/sim/machine/engine.hpp>
#include <buda/sim/machine/needs.hpp>

#include <algorithm>
#include <utility>

namespace buda::sim {
namespace {

// Tiles of an operand since the epoch began.
std::int64_t needed_of(const KernelPlan& plan, std::size_t number, std::int64_t input, std::int64_t step) {
  const KernelPlan::Operand& operand = plan.operands[number];
  return operand.kept ? operand.tiles : input * operand.tiles + plan.needed(operand, step);
}

// Tiles of the output since the epoch began for which a step needs room; 0 if it needs none.
std::int64_t output_by(const KernelState& k, std::int64_t input, std::int64_t step) {
  const KernelPlan& plan = k.plan;
  if (k.output == kNone || plan.out_tiles == 0 || k.passes_on) return 0;
  const std::int64_t round = plan.gathering + plan.giving;
  const std::int64_t until = plan.gathers_in_output ? (step / round + 1) * round : step + 1;
  return input * plan.out_tiles + plan.out_before(until);
}

// What the next step lacks. Nothing when it can begin.
KernelWait lacking(const Machine& m, const KernelState& k) {
  const KernelPlan& plan = k.plan;
  const std::int64_t input = k.step / plan.steps(), step = k.step % plan.steps();
  for (std::uint32_t i = 0; i < k.operands.size(); ++i) {
    if (k.operands[i] == kNone) continue;
    const StreamState& s = m.streams[k.operands[i]];
    const std::int64_t needed = needed_of(plan, i, input, step);
    if (s.storage.put < needed) return {KernelWait::For::tiles, i, needed, 0};
  }
  const std::int64_t out = output_by(k, input, step);
  if (out == 0) return {};
  const Storage& storage = m.streams[k.output].storage;
  if (out - storage.known_taken > storage.capacity) return {KernelWait::For::room, 0, out, 0};
  return {};
}

Needs needs_of_step(const Machine& m, const KernelState& k) {
  Needs out(m);
  const std::int64_t input = k.step / k.plan.steps(), step = k.step % k.plan.steps();
  for (std::size_t i = 0; i < k.operands.size(); ++i)
    if (k.operands[i] != kNone) out.put(m.streams[k.operands[i]].storage, needed_of(k.plan, i, input, step));
  if (const std::int64_t tiles = output_by(k, input, step); tiles > 0) {
    const Storage& storage = m.streams[k.output].storage;
    out.freed(storage, tiles - storage.capacity);
  }
  return out;
}

// The part of a wait in which the transfers were under way that led to its end, back to what a kernel did. Of each the memories decide
// what would be saved if they, and not the networks, were twice as fast.
Moving moving_part(const Machine& m, Ticks since) {
  Moving out;
  Ticks until = m.now;
  for (const Action* a = m.actions.find(m.cause); a != nullptr && a->is_transfer() && until > since; a = m.actions.find(a->cause)) {
    const Ticks begin = std::clamp(a->begin, since, until), time = until - begin;
    const std::uint64_t memories = a->saved[static_cast<std::size_t>(Part::memories)],
                        networks = a->saved[static_cast<std::size_t>(Part::networks)];
    out.all += time;
    if (memories > 0) out.memories += time * memories / (memories + networks);
    until = begin;
  }
  return out;
}

void count_wait(Machine& m, KernelId id) {
  KernelState& k = m.kernels[id];
  if (k.wait.what == KernelWait::For::nothing) return;
  const Moving part = moving_part(m, k.wait.since);
  const bool tiles = k.wait.what == KernelWait::For::tiles;
  (tiles ? k.tile_time[k.wait.operand] : k.room_time) += m.now - k.wait.since;
  Moving& moving = tiles ? k.tile_moving[k.wait.operand] : k.room_moving;
  moving.all += part.all;
  moving.memories += part.memories;
  if (m.recorder) m.recorder->waited(m, id);
  k.wait = {};
}

void begin_period(const Machine& m, KernelState& k) {
  k.period_begin = m.now;
  k.room_filling = k.room_moving.all;
  for (std::size_t i = 0; i < k.tile_moving.size(); ++i) k.tile_filling[i] = k.tile_moving[i].all;
}

}  // namespace

void try_step(Machine& m, KernelId id) {
  KernelState& k = m.kernels[id];
  if (k.busy || k.done() || m.wrong || m.now < m.core_starts[k.core]) return;
  KernelWait wait = lacking(m, k);
  if (wait.what != KernelWait::For::nothing) {
    // A kernel that finds the next thing missing when the first has come waits for that from then on.
    if (k.wait.what != wait.what || k.wait.operand != wait.operand) {
      count_wait(m, id);
      wait.since = m.now;
    } else {
      wait.since = k.wait.since;
    }
    k.wait = wait;
    return;
  }
  count_wait(m, id);
  const std::int64_t step = k.step % k.plan.steps();
  const Ticks duration = m.jitter.of(k.plan.time_before(step + 1) - k.plan.time_before(step));
  if (step == 0) {
    k.input_begin = m.now;
    k.busy_before = k.busy_time;
  }
  k.busy = true;
  k.busy_time += duration;
  k.action = m.actions.add({m.now, m.now + duration, id, m.cause, 0, 0, Action::Kind::step, {}, 0, needs_of_step(m, k).latest()});
  if (m.recorder) m.recorder->step(m, id, m.now + duration);
  m.events.add(m.now + duration, EventKind::stepped, id, k.action);
}

void on_stepped(Machine& m, KernelId id) {
  KernelState& k = m.kernels[id];
  const std::int64_t input = k.step / k.plan.steps(), step = k.step % k.plan.steps();
  k.busy = false;
  ++k.step;
  k.last_step = m.now;
  if (k.step == k.plan.steps()) k.first_input_done = m.now;
  if (k.step == k.plan.steps() * m.filling_inputs()) begin_period(m, k);
  if (m.recorder && step + 1 == k.plan.steps()) m.recorder->input_done(m, id);
  for (std::uint32_t i = 0; i < k.operands.size(); ++i)
    if (k.operands[i] != kNone && !k.plan.operands[i].kept && !k.passes_on)
      use_up_to(m, k.operands[i], input * k.plan.operands[i].tiles + k.plan.freed(k.plan.operands[i], step));
  if (k.output != kNone && k.plan.out_tiles > 0) {
    StreamState& output = m.streams[k.output];
    const std::int64_t out = input * k.plan.out_tiles + k.plan.out_before(step + 1);
    if (out > output.storage.put) {
      output.storage.put = output.storage.reserved = out;
      note_put(m, output);
      wake_users(m, k.output);
    }
  }
  if (k.sums != kNone && k.done()) try_write(m, k.sums);
  try_step(m, id);
}

}  // namespace buda::sim
