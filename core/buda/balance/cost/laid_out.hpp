// SPDX-License-Identifier: Apache-2.0
// What is known better of ops and their pipeline once the streams of an epoch are laid out.
#pragma once

#include <buda/balance/cost/cost.hpp>
#include <buda/balance/cost/epoch_loads.hpp>
#include <buda/cost/pipeline.hpp>
#include <buda/device/descriptor.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace buda::balance {

// Takes the ways of streams that are laid out in place of the guess for inputs that come from queues: the busiest link, port, or channel
// that an op's cores read at the same time. What all reading takes memory is among the loads of the epoch's paths.
void take_ways(const std::string& op, const Traffic& traffic, const EpochLoads& loads, OpCycles& cycles);

// An op of an epoch whose streams are laid out.
struct LaidOutOp {
  std::string name;
  cost::PipelineOp pipeline;
  std::vector<std::size_t> operands;  // of each input of the pipeline, the number of the op's input
  double bytes_before = 0;            // that a core loads before the epoch
};
// Corrects what was estimated without knowing the ways of streams: what is loaded before the first input, which all cores load at once; the
// busiest way of each input's own tiles; and the time until memory answers.
void add_laid_out(std::vector<LaidOutOp>& ops, const EpochLoads& loads, const device::DeviceDescriptor& device);

}  // namespace buda::balance
