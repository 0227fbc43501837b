// SPDX-License-Identifier: Apache-2.0
// What ops of chips without Ethernet can exchange over PCIe with other chips.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/pipes/plan/epoch_plan.hpp>

#include <string>

namespace buda::pipes {

// `what`, which the op receives from chip `from` or sends to chip `to`: PP034 unless these are neighbours, or the same. Chips with Ethernet
// are not checked.
Result<void> check_ring(const EpochPlan& plan, const netlist::Op& op, const std::string& what, std::int32_t from, std::int32_t to);
// The same for a queue that the op reads or writes on `chip`.
Result<void> check_ring(const EpochPlan& plan, const netlist::Op& op, const netlist::Queue& queue, std::int32_t chip);
// PP001 if ops of several chips use the queue: each chip accesses it at another address, and its buffers have only one.
Result<void> check_users(const EpochPlan& plan, const QueuePlan& queue);

}  // namespace buda::pipes
