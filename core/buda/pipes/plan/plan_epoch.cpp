// SPDX-License-Identifier: Apache-2.0
// Composes the steps.
#include <buda/pipes/plan/plan_epoch.hpp>

#include <buda/pipes/interchip/over_pcie.hpp>
#include <buda/pipes/plan/granularities.hpp>
#include <buda/pipes/plan/list_ops.hpp>
#include <buda/pipes/plan/plan_input.hpp>
#include <buda/pipes/plan/plan_output.hpp>
#include <buda/pipes/plan/prologue.hpp>

#include <utility>

namespace buda::pipes {

Result<EpochPlan> plan_epoch(const NetlistIndex& index, const device::DeviceDescriptor& device, const Epoch& epoch,
                             const device::Cluster& cluster) {
  BUDA_ASSIGN(EpochPlan plan, list_ops(index, device, epoch, cluster));
  Failure failure;
  for (OpPlan& p : plan.ops)
    for (std::size_t i = 0; i < p.inputs.size(); ++i) {
      auto input = plan_input(plan, p, i);
      if (!input) {
        failure.add(std::move(input).failure());
        continue;
      }
      p.inputs[i] = std::move(input).value();
      if (p.inputs[i].rows) plan.queues[plan.queue_index.at(p.inputs[i].source.queue)].rows = p.inputs[i].rows;
    }
  for (const QueuePlan& q : plan.queues)
    if (auto checked = check_users(plan, q); !checked) failure.add(std::move(checked).failure());
  if (!failure.empty()) return failure;
  for (OpPlan& p : plan.ops) p.inputs = agree_on_prologues(std::move(p.inputs), p.op->grid);
  for (QueuePlan& q : plan.queues) {
    if (q.writer == kNone) continue;
    auto routes = route_output(plan, q);
    if (routes) {
      q.from_writer = std::move(routes).value();
    } else {
      failure.add(std::move(routes).failure());
    }
  }
  if (!failure.empty()) return failure;
  return settle_granularities(std::move(plan));
}

}  // namespace buda::pipes
