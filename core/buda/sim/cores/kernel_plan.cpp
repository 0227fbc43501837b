// SPDX-License-Identifier: Apache-2.0
// Steps in closed form.
#include <buda/sim/cores/kernel_plan.hpp>

#include <buda/base/checked.hpp>
#include <buda/netlist/model/op_types.hpp>
#include <buda/tiling/buffer_sizes.hpp>

#include <algorithm>

namespace buda::sim {
namespace {

using netlist::Op;
using netlist::OpClass;

// Blocks of the inner dimension that are added up to one mblock; 1 for ops that add up nothing, or within a ublock.
std::int64_t inner_blocks(const Op& op) {
  const auto& a = op.attributes;
  switch (op_class(op.type)) {
    case OpClass::matmul:
      return a.identity ? 1 : std::int64_t{std::max(a.m_k, 1)} * (a.accumulate ? std::max(a.z, 1) : 1);
    case OpClass::depthwise:
      return std::max(a.m_k, 1);
    case OpClass::reduce:
      return a.reduce_dim == netlist::Dim::z ? std::max(a.z, 1) : 1;
    default:
      return 1;
  }
}

bool adds_bias(const Op& op, std::size_t operand) {
  const OpClass type = op_class(op.type);
  return operand >= 2 && !op.attributes.identity && (type == OpClass::matmul || type == OpClass::depthwise);
}

}  // namespace

KernelPlan::Part KernelPlan::work_before(std::int64_t step) const {
  const std::int64_t per_round = gathering * gathering_length + giving, round = step / (gathering + giving),
                     within = step % (gathering + giving);
  const std::int64_t done = within <= gathering ? within * gathering_length : gathering * gathering_length + within - gathering;
  return {round * per_round + done, rounds * per_round};
}

KernelPlan::Part KernelPlan::output_before(std::int64_t step) const {
  const std::int64_t round = step / (gathering + giving), within = step % (gathering + giving);
  return {round * giving + std::max<std::int64_t>(within - gathering, 0), rounds * giving};
}

Ticks KernelPlan::time_before(std::int64_t step) const {
  const Part p = work_before(step);
  return input_time * static_cast<Ticks>(p.done) / static_cast<Ticks>(p.all);
}

std::int64_t KernelPlan::out_before(std::int64_t step) const {
  const Part p = output_before(step);
  return out_tiles * p.done / p.all;
}

std::int64_t KernelPlan::blocks_before(const Operand& operand, std::int64_t step) const {
  const Part p = operand.with_output ? output_before(step) : work_before(step);
  return ceil_div(operand.tiles, operand.at_once) * p.done / p.all;
}

// The block that is being used, and all that are used up by the end of the step.
std::int64_t KernelPlan::needed(const Operand& operand, std::int64_t step) const {
  const std::int64_t present = operand.with_output && !gives(step) ? 0 : 1;
  const std::int64_t blocks = std::max(blocks_before(operand, step) + present, blocks_before(operand, step + 1));
  return std::min(operand.tiles, blocks * operand.at_once);
}

std::int64_t KernelPlan::freed(const Operand& operand, std::int64_t step) const {
  return std::min(operand.tiles, blocks_before(operand, step + 1) * operand.at_once);
}

KernelPlan plan_steps(const Op& op, const std::vector<KernelOperand>& operands) {
  KernelPlan plan;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    KernelPlan::Operand operand;
    static_cast<KernelOperand&>(operand) = operands[i];
    operand.at_once = std::max<std::int64_t>(operand.at_once, 1);
    operand.with_output = adds_bias(op, i);
    plan.operands.push_back(operand);
  }
  const bool gives_nothing = op.gradient_op || op_class(op.type) == OpClass::drainer;
  plan.out_tiles = gives_nothing ? 0 : op.block.tiles();
  const std::int64_t blocks = inner_blocks(op), ublocks = std::int64_t{op.block.mblock_m} * op.block.mblock_n;
  if (blocks > 1) {
    plan.rounds = op.block.t;
    plan.giving = ublocks;
    // A block of the inner dimension at a time, if that is how the operands come.
    const bool whole = std::all_of(plan.operands.begin(), plan.operands.end(),
                                   [&](const auto& o) { return o.with_output || o.kept || o.at_once >= o.tiles / (plan.rounds * blocks); });
    plan.gathering = (blocks - 1) * (whole ? 1 : ublocks);
    plan.gathering_length = whole ? ublocks : 1;
    plan.gathers_in_output = tiling::shares_output(op);
    return plan;
  }
  // As many steps as the operand with the most blocks has, so that no step needs two blocks of one.
  plan.rounds = 1;
  plan.giving = std::max<std::int64_t>(op.block.t * ublocks, 1);
  for (const auto& o : plan.operands)
    if (!o.kept) plan.giving = std::max(plan.giving, ceil_div(o.tiles, o.at_once));
  return plan;
}

}  // namespace buda::sim
