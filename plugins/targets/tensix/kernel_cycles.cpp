// SPDX-License-Identifier: Apache-2.0
// Zeros in the shapes that the op's edges deliver.
#include "kernel_cycles.hpp"

#include <buda/base/text.hpp>
#include <buda/kernels/run/op_run.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

namespace buda::tensix {

Result<std::shared_ptr<KernelCycles>> KernelCycles::make(const netlist::Netlist& netlist, const kernels::KernelSet& kernels,
                                                         device::L1Map l1, std::function<void(std::string)> warn, Cycle most_cycles) {
  std::shared_ptr<KernelCycles> made(new KernelCycles(netlist, kernels, l1, std::move(warn), most_cycles));
  BUDA_ASSIGN(made->plans_, arith::plan_graphs(made->netlist_, std::numeric_limits<std::int64_t>::max()));
  for (const auto& [index, graph] : made->plans_.graphs)
    for (const arith::OpPlan& plan : graph.ops) made->ops_[plan.op->name] = &plan;
  return made;
}

std::optional<double> KernelCycles::of(const netlist::Op& op) {
  const std::lock_guard lock(mutex_);
  const auto& known = find(op);
  return known ? std::optional(known->cycles) : std::nullopt;
}

std::vector<KernelCycles::Mark> KernelCycles::marks_of(const netlist::Op& op) {
  const std::lock_guard lock(mutex_);
  const auto& known = find(op);
  return known ? known->marks : std::vector<Mark>();
}

const std::optional<KernelCycles::Measured>& KernelCycles::find(const netlist::Op& op) {
  auto [known, fresh] = known_.try_emplace(op.name);
  if (const auto plan = ops_.find(op.name); fresh && plan != ops_.end()) known->second = measured(*plan->second);
  return known->second;
}

std::optional<KernelCycles::Measured> KernelCycles::measured(const arith::OpPlan& plan) const {
  const netlist::Op& op = *plan.work;
  if (op.attributes.identity || kernels_.kernel_of_op.count(op.name) == 0) return std::nullopt;
  std::vector<arith::ValuePtr> inputs;
  for (std::size_t i = 0; i < plan.inputs.size(); ++i)
    inputs.push_back(std::make_shared<arith::Value>(plan.inputs[i].gather.shape(), plan.inputs[i].tiles, op.inputs[i].format));
  SimulatedCore core(static_cast<std::size_t>(l1_.size));
  core.most_cycles = most_cycles_;
  const arith::OpCall call{op, inputs, arith::Mode::bits, 1, nullptr, plan.fused};
  // What goes wrong is told when its values are computed.
  kernels::ZoneMarks marks;
  if (kernels::run_part(kernels_, l1_, call, {0, 0}, core, marks)) return std::nullopt;
  if (marks.lost > 0 && warn_)
    warn_(cat("op '", op.name, "': ", marks.lost,
              " marks of zones are lost, because they follow each other too fast, or are more than a million"));
  Measured out{static_cast<double>(core.cycles()), {}};
  for (kernels::ZoneMark& mark : marks.marks)
    out.marks.push_back({std::move(mark.zone), static_cast<std::uint8_t>(mark.thread), mark.ends, mark.cycle / std::max(out.cycles, 1.0)});
  return out;
}

}  // namespace buda::tensix
