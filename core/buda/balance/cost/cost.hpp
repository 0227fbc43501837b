// SPDX-License-Identifier: Apache-2.0
// How long an op takes with what surrounds it: its kernel (core/buda/cost), and the ways in and out (docs/internals/balancing.md, "Cost").
#pragma once

#include <buda/balance/resources/resources.hpp>
#include <buda/device/descriptor.hpp>
#include <buda/netlist/model/op.hpp>

#include <cstdint>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::balance {

// Cycles of one input, by what holds the op up.
struct OpCycles {
  double kernel = 0;
  std::vector<double> inputs;  // to bring each input to a core
  double output = 0;           // to take the result away
  double dram_bytes = 0;       // that all of its cores read and write; they share the channels with the other ops of the epoch
  double noc_bytes = 0;        // that they take from cores
  double transfer() const;     // the largest of inputs and output
  double limiter() const;      // the largest of all
  // What is loaded before the epoch: which inputs, and how many bytes of them come to a core.
  std::vector<bool> is_before;
  double bytes_before = 0;
  double running() const;  // the largest of all that every input of the epoch takes
};

// What has to be known of the surroundings. Inputs loaded before the epoch cost 1/inputs_per_epoch of their transfer for each input.
struct Traffic {
  std::vector<bool> input_from_dram;
  std::vector<bool> input_prologue;
  bool output_to_dram = false;
  std::int64_t inputs_per_epoch = 1;
};
// `kernel`: cycles of the op's kernel.
OpCycles estimate(const netlist::Op& op, double kernel, const Traffic& traffic, const device::DeviceDescriptor& device);

}  // namespace buda::balance

#pragma GCC visibility pop
