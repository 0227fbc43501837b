// SPDX-License-Identifier: Apache-2.0
// Over PCIe a chip accesses its neighbours in the ring.
#include <buda/pipes/interchip/over_pcie.hpp>

#include <buda/base/text.hpp>
#include <buda/pipes/interchip/ring.hpp>
#include <buda/pipes/plan/not_supported.hpp>

namespace buda::pipes {

using netlist::Op;
using netlist::Queue;

namespace {

Diagnostic not_neighbours(const EpochPlan& plan, const Op& op, const std::string& what, std::int32_t from, std::int32_t to) {
  Diagnostic d = input_error("PP034", plan.netlist().loc(op.places.self),
                             cat("op '", op.name, "', ", what, ": there is no route from chip ", from, " to chip ", to, " of '",
                                 plan.device->name, "'; over PCIe a chip accesses only its neighbours in the ring"));
  d.node = op.name;
  d.hint = "place the graphs on neighbouring chips, or pass the data on through the chips between them";
  return d;
}

}  // namespace

Result<void> check_ring(const EpochPlan& plan, const Op& op, const std::string& what, std::int32_t from, std::int32_t to) {
  if (!plan.device->eth.empty() || from == to || is_next_in_ring(plan.index->chips(), *plan.cluster, from, to)) return success();
  return not_neighbours(plan, op, what, from, to);
}

Result<void> check_ring(const EpochPlan& plan, const Op& op, const Queue& q, std::int32_t chip) {
  if (!plan.device->eth.empty() || q.location != netlist::QueueLocation::dram || q.target_device == chip) return success();
  if (peer_address(plan.index->chips(), *plan.device, *plan.cluster, chip, q.target_device, 0)) return success();
  return not_neighbours(plan, op, cat("queue '", q.name, "'"), chip, q.target_device);
}

Result<void> check_users(const EpochPlan& plan, const QueuePlan& queue) {
  const Queue& q = plan.netlist().queues[queue.queue];
  if (!plan.device->eth.empty() || q.location != netlist::QueueLocation::dram) return success();
  const std::int32_t chip = plan.user_chip(queue);
  std::vector<std::size_t> users = queue.readers;
  if (queue.writer != kNone) users.push_back(queue.writer);
  for (std::size_t o : users)
    if (plan.ops[o].chip != chip)
      return not_supported(plan.netlist(), *plan.ops[o].op,
                           cat("queue '", q.name, "' for ops of chip ", chip, " and of chip ", plan.ops[o].chip, " in one epoch"), -1,
                           "give the ops of one chip a queue of their own, or take its tiles over through a nop");
  return success();
}

}  // namespace buda::pipes
