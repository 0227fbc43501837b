// How long an op takes with what surrounds it: its kernel (core/buda/cost), and the ways in and out (docs/internals/balancing.md, "Cost").
#pragma once

#include <buda/balance/legalize/resources.hpp>
#include <buda/device/descriptor.hpp>
#include <buda/netlist/model/op.hpp>

#include <cstdint>
#include <vector>

namespace buda::balance {

// Cycles of one input, by what holds the op up.
struct OpCycles {
  double kernel = 0;
  std::vector<double> inputs;  // to bring each input to a core
  double output = 0;           // to take the result away
  double transfer() const;     // the largest of inputs and output
  double limiter() const;      // the largest of all
};

// What has to be known of the surroundings. `dram_cores`: cores of the chip that read or write DRAM at the same time and share its
// channels. Inputs loaded before the epoch cost 1/inputs_per_epoch of their transfer for each input.
struct Traffic {
  std::vector<bool> input_from_dram;
  std::vector<bool> input_prologue;
  bool output_to_dram = false;
  std::int64_t dram_cores = 1;
  std::int64_t inputs_per_epoch = 1;
};
// `kernel`: cycles of the op's kernel.
OpCycles estimate(const netlist::Op& op, double kernel, const Traffic& traffic, const device::DeviceDescriptor& device);

// Bytes per cycle that one of `dram_cores` cores gets: its share of all channels, but no more than one channel or one link of the network.
double dram_share(std::int64_t dram_cores, const device::DeviceDescriptor& device);

}  // namespace buda::balance
