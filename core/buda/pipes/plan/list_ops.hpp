// SPDX-License-Identifier: Apache-2.0
// The ops of an epoch, where their inputs come from, and the queues that they use.
#pragma once

#include <buda/device/cluster.hpp>
#include <buda/diag/result.hpp>
#include <buda/pipes/plan/epoch_plan.hpp>

namespace buda::pipes {

// A plan in which everything but ops, sources, readers and writers is still to be decided. PP009 to PP012: ops that do not fit the grid,
// odd buffer sizes, missing inputs, inputs from nowhere.
Result<EpochPlan> list_ops(const NetlistIndex& index, const device::DeviceDescriptor& device, const Epoch& epoch,
                           const device::Cluster& cluster);

}  // namespace buda::pipes
