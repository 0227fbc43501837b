// What ops of chips without ethernet may take from other chips, and write there. Internal to the module.
#pragma once

#include <buda/pipes/plan/epoch_plan.hpp>

#include <string>

namespace buda::pipes {

// `what`, which the op takes from chip `from` or gives to chip `to`: these have to be next to each other, or the same. Nothing is said of
// chips with ethernet.
Result<void> check_ring(const EpochPlan& plan, const netlist::Op& op, const std::string& what, std::int32_t from, std::int32_t to);
// The same for a queue that the op reads or writes on `chip`.
Result<void> check_ring(const EpochPlan& plan, const netlist::Op& op, const netlist::Queue& queue, std::int32_t chip);
// Each chip sees a queue in DRAM at another address, and its buffers have one only.
Result<void> check_users(const EpochPlan& plan, const QueuePlan& queue);

}  // namespace buda::pipes
