// Over PCIe a chip reaches those next to it in the ring.
#include <buda/pipes/interchip/over_pcie.hpp>

#include <buda/base/text.hpp>
#include <buda/pipes/interchip/ring.hpp>

namespace buda::pipes {

using netlist::Op;
using netlist::Queue;

namespace {

Diagnostic no_way(const EpochPlan& plan, const Op& op, const std::string& what, std::int32_t from, std::int32_t to) {
  Diagnostic d = input_error("PP034", plan.netlist().loc(op.places.self),
                             cat("op '", op.name, "', ", what, ": no way leads from chip ", from, " to chip ", to, " of '",
                                 plan.device->name, "'; over PCIe chips reach those next to them in the ring"));
  d.node = op.name;
  d.hint = "place the graphs on neighbours, or pass the data on through the chips between";
  return d;
}

}  // namespace

Result<void> check_ring(const EpochPlan& plan, const Op& op, const std::string& what, std::int32_t from, std::int32_t to) {
  if (!plan.device->eth.empty() || from == to || stands_after(plan.index->chips(), *plan.cluster, from, to)) return success();
  return no_way(plan, op, what, from, to);
}

Result<void> check_ring(const EpochPlan& plan, const Op& op, const Queue& q, std::int32_t chip) {
  if (!plan.device->eth.empty() || q.location != netlist::QueueLocation::dram || q.target_device == chip) return success();
  if (peer_address(plan.index->chips(), *plan.device, *plan.cluster, chip, q.target_device, 0)) return success();
  return no_way(plan, op, cat("queue '", q.name, "'"), chip, q.target_device);
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
