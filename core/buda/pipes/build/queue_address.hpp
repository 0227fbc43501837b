// SPDX-License-Identifier: Apache-2.0
// Addresses of queues, as the chip of the epoch accesses them.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/pipes/interchip/core_positions.hpp>
#include <buda/pipes/plan/epoch_plan.hpp>

#include <cstdint>

namespace buda::pipes {

struct QueueAddress {
  std::int32_t channel = 0;  // of DRAM or host memory
  std::uint64_t address = 0;
};

// PP030 and PP031 where the device does not have that memory, PP033 where the channel does not have a given port.
Result<QueueAddress> queue_address(const EpochPlan& plan, const netlist::Queue& queue, std::size_t buffer);

// Whether the queue is in the DRAM of another chip than the one that uses it, without Ethernet between them.
bool is_on_peer(const EpochPlan& plan, const QueuePlan& q);

// The port of the DRAM channel by which a buffer of the queue is accessed: the one that the netlist gives, or the one nearest to the first
// core of the first op that reads the queue, or of its writer. 0 for host memory.
std::int32_t dram_port(const EpochPlan& plan, const CorePositions& cores, const QueuePlan& q, std::size_t buffer);
// Where this port is on the NoC. The queue must be in DRAM.
device::NocCoord dram_port_noc(const EpochPlan& plan, const CorePositions& cores, const QueuePlan& q, std::size_t buffer);

}  // namespace buda::pipes
