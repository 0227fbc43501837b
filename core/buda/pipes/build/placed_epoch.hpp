// SPDX-License-Identifier: Apache-2.0
// A planned epoch with the positions of its cores and the ids of its buffers: what buffers and pipes are made from.
#pragma once

#include <buda/pipes/build/buffer_ids.hpp>
#include <buda/pipes/interchip/core_positions.hpp>
#include <buda/pipes/plan/epoch_plan.hpp>

namespace buda::pipes {

// Ops, inputs and queues are given by their numbers in the plan.
struct PlacedEpoch {
  const EpochPlan& plan;
  CorePositions cores;
  BufferIds ids;
};

}  // namespace buda::pipes
