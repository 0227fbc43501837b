// SPDX-License-Identifier: Apache-2.0
// Instructions of the forward program.
#include <buda/balance/emit/program.hpp>

#include <buda/balance/chips/chips_of_choice.hpp>
#include <buda/balance/emit/epoch_phases.hpp>
#include <buda/balance/problem/phases.hpp>
#include <buda/base/text.hpp>

#include <algorithm>
#include <set>

namespace buda::balance {
namespace {

using host_plan::kLoopCount;
using host_plan::kNextStateSlot;
using host_plan::kStateSlot;
using host_plan::kZeroGradients;
using netlist::Value;
namespace instruction = netlist::instruction;

constexpr const char* kZero = "$c_zero";
constexpr const char* kMicrobatch = "$c_microbatch_size";
constexpr const char* kZeroNow = "$v_zero_grad";

// The pointers of one queue and the epochs in which it is read, of a ram also those in which it is written.
struct Reading {
  std::size_t queue = 0;
  std::string local, global;  // of a ram and of a dynamic queue always zero
  std::set<std::int32_t> epochs;
  bool pops = true;  // no later segment reads it
};

// Of one epoch the queues that it reads, and those that are read for the last time; the dynamic queues that it is the first or the last to
// use.
struct InEpoch {
  std::vector<const Reading*> all, last;
  std::vector<std::string> allocated, freed;
};

std::vector<InEpoch> by_epoch(const QueueSet& queues, const std::vector<Reading>& all, std::int32_t epochs) {
  std::vector<InEpoch> out(static_cast<std::size_t>(epochs));
  for (const Reading& r : all) {
    for (std::int32_t epoch : r.epochs) out[static_cast<std::size_t>(epoch)].all.push_back(&r);
    out[static_cast<std::size_t>(*r.epochs.rbegin())].last.push_back(&r);
  }
  for (const QueuePlan& plan : queues.queues) {
    if (!plan.life) continue;
    out[static_cast<std::size_t>(plan.life->first)].allocated.push_back(plan.queue.name);
    out[static_cast<std::size_t>(plan.life->last)].freed.push_back(plan.queue.name);
  }
  return out;
}

std::vector<Reading> readings(const Problem& problem, const Choice& choice, const QueueSet& queues, std::int32_t segment) {
  std::vector<Reading> out;
  std::size_t number = 0;
  for (std::size_t i = 0; i < queues.queues.size(); ++i) {
    const QueuePlan& plan = queues.queues[i];
    Reading r{i, kZero, kZero, {}};
    for (const OpUse& use : plan.readers) {
      if (problem.op(use.op).segment == segment) r.epochs.insert(choice.ops[use.op.index()].epoch);
      if (problem.op(use.op).segment > segment) r.pops = false;
    }
    const bool is_written_ram = plan.queue.kind == netlist::QueueKind::ram && plan.writer.valid();
    if (is_written_ram && problem.op(plan.writer).segment == segment) r.epochs.insert(choice.ops[plan.writer.index()].epoch);
    if (r.epochs.empty()) continue;
    // A dynamic queue is empty when it has been allocated.
    if (plan.queue.kind == netlist::QueueKind::queue && !plan.life) {
      r.local = cat("$lptr_q", number);
      r.global = cat("$gptr_q", number);
      ++number;
    }
    out.push_back(std::move(r));
  }
  return out;
}

struct Section {
  std::size_t begin = 0, end = 0;
};

Section epochs_of(const Problem& problem, const Choice& choice, std::int32_t segment) {
  Section out;
  for (std::size_t i = 0; i < problem.ops.size(); ++i) {
    const auto behind = static_cast<std::size_t>(choice.ops[i].epoch) + 1;
    if (problem.ops[i].segment < segment) out.begin = std::max(out.begin, behind);
    if (problem.ops[i].segment <= segment) out.end = std::max(out.end, behind);
  }
  return out;
}

netlist::QueueSetting setting_of(const Problem& problem, const QueuePlan& plan, const Reading& r, std::int32_t segment) {
  netlist::QueueSetting s;
  s.queue = plan.queue.name;
  s.prologue = Value::number(plan.prologue ? 1 : 0);
  s.epilogue = Value::number(0);
  s.zero = Value::number(0);
  s.rd_ptr_global = Value::of(r.global);
  if (plan.queue.kind == netlist::QueueKind::queue) {
    s.rd_ptr_local = Value::of(r.local);
    return s;
  }
  s.wr_ptr_global = Value::of(kZero);
  if (plan.role == QueueRole::loopback) {
    s.rd_ptr_global = Value::of(kStateSlot);
    if (problem.op(plan.writer).segment == segment) s.wr_ptr_global = Value::of(kNextStateSlot);
  }
  if (plan.role == QueueRole::gradient && problem.op(plan.writer).segment == segment) {
    s.prologue = s.epilogue = Value::number(1);
    s.zero = Value::of(kZeroNow);
  }
  return s;
}

std::vector<std::string> parameters_of(const Problem& problem, std::int32_t segment) {
  if (!problem.trains) return {kLoopCount};
  if (segment == kOptimizerSegment) return {kStateSlot, kNextStateSlot};
  if (segment == kBackwardSegment) return {kLoopCount, kStateSlot, kZeroGradients};
  return {kLoopCount, kStateSlot};
}

}  // namespace

netlist::Program make_program(const Problem& problem, const Choice& choice, const QueueSet& queues, std::int32_t segment) {
  auto all = readings(problem, choice, queues, segment);
  const Section epochs = epochs_of(problem, choice, segment);
  const std::vector<std::string> graphs = graph_names(problem, choice);
  netlist::Program p;
  p.name = program_name(problem, segment);
  auto add = [&p](auto what) { p.instructions.push_back({std::move(what), {}}); };
  add(instruction::Param{parameters_of(problem, segment)});
  const bool zeroes = problem.trains && segment == kBackwardSegment, loops = !problem.trains || segment != kOptimizerSegment;
  add(instruction::Var{false, {{kMicrobatch, inputs_of_segment(problem, segment)}, {kZero, 0}}});
  if (zeroes) add(instruction::Var{false, {{kZeroNow, 0}}});
  instruction::Var statics{true, {}};
  for (const Reading& r : all) {
    if (r.local == kZero) continue;
    statics.values.emplace_back(r.local, 0);
    statics.values.emplace_back(r.global, 0);
  }
  if (!statics.values.empty()) add(std::move(statics));
  // What a later program pops was popped by it before this one runs again.
  for (const Reading& r : all)
    if (r.local != kZero && !r.pops) add(instruction::VarInst{r.global, netlist::VarOp::set, {Value::of(r.local)}});
  if (zeroes) add(instruction::VarInst{kZeroNow, netlist::VarOp::set, {Value::of(kZeroGradients)}});
  if (loops) add(instruction::Loop{Value::of(kLoopCount)});
  const auto in_epochs = by_epoch(queues, all, choice.epochs());
  // What runs together is executed without anything in between.
  const auto together = epochs_together(chips_of_epochs(problem, choice), segments_of_epochs(problem, choice),
                                        problem.device->features.op_to_op_across_graphs);
  for (const EpochSpan& span : together) {
    const auto first = static_cast<std::size_t>(span.first), end = static_cast<std::size_t>(span.last) + 1;
    if (first < epochs.begin || end > epochs.end) continue;
    for (std::size_t epoch = first; epoch < end; ++epoch)
      if (const auto& names = in_epochs[epoch].allocated; !names.empty()) add(instruction::Allocate{names});
    for (std::size_t epoch = first; epoch < end; ++epoch) {
      instruction::Execute execute{graphs[epoch], {}};
      for (const Reading* r : in_epochs[epoch].all) execute.settings.push_back(setting_of(problem, queues.queues[r->queue], *r, segment));
      add(std::move(execute));
    }
    for (std::size_t epoch = first; epoch < end; ++epoch)
      if (const auto& names = in_epochs[epoch].freed; !names.empty()) add(instruction::Deallocate{names});
    for (std::size_t epoch = first; epoch < end; ++epoch)
      for (const Reading* r : in_epochs[epoch].last) {
        if (r->local == kZero) continue;
        Value wrap = Value::number(2 * queues.queues[r->queue].queue.entries);
        if (r->pops) add(instruction::VarInst{r->global, netlist::VarOp::incwrap, {Value::of(kMicrobatch), wrap}});
        add(instruction::VarInst{r->local, netlist::VarOp::incwrap, {Value::of(kMicrobatch), wrap}});
      }
  }
  if (zeroes) add(instruction::VarInst{kZeroNow, netlist::VarOp::set, {Value::number(0)}});
  if (loops) add(instruction::EndLoop{});
  return p;
}

}  // namespace buda::balance
