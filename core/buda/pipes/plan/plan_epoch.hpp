// SPDX-License-Identifier: Apache-2.0
// Plans an epoch.
//
//   list_ops() ─▶ ops, sources, queues ─ plan_input() for each input ─▶ routes and buffers ─ agree_on_prologues() for each op ─▶
//   ─ route_output() for each queue that is written ─▶ all routes ─ settle_granularities() ─▶ blocks and output buffers
#pragma once

#include <buda/device/cluster.hpp>
#include <buda/diag/result.hpp>
#include <buda/pipes/plan/epoch_plan.hpp>

namespace buda::pipes {

// All arguments must outlive the plan. The errors of all inputs, or of all outputs: PP codes of the functions above.
Result<EpochPlan> plan_epoch(const NetlistIndex& index, const device::DeviceDescriptor& device, const Epoch& epoch,
                             const device::Cluster& cluster);

}  // namespace buda::pipes
