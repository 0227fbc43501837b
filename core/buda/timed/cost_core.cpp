// SPDX-License-Identifier: Apache-2.0
// Cycles as ticks.
#include <buda/timed/cost_core.hpp>

#include <buda/cost/kernel_cycles.hpp>

namespace buda::timed {

Result<sim::KernelPlan> CostCore::plan(const sim::KernelContext& kernel) const {
  sim::KernelPlan plan = sim::plan_steps(kernel.op, kernel.operands);
  const auto known = known_ ? known_(kernel.op) : std::nullopt;
  const auto counts = known ? std::nullopt : index_tiles_.counts(kernel.op, kernel.core);
  double cycles = known ? *known : cost::kernel_cycles(kernel.op, kernel.fused, device_, counts ? &*counts : nullptr).total;
  if (auto scale = scale_.find(kernel.op.name); scale != scale_.end()) cycles *= scale->second;
  plan.input_time = sim::ticks_of(cycles);
  return plan;
}

}  // namespace buda::timed
