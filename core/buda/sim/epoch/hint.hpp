// SPDX-License-Identifier: Apache-2.0
// What makes an epoch go on that stopped in a cycle: a larger buffer of one input, or of the output of an op, as the netlist can ask for
// it.
#pragma once

#include <buda/io/host.hpp>
#include <buda/netlist/model/netlist.hpp>
#include <buda/sim/epoch/epoch_run.hpp>
#include <buda/sim/epoch/epoch_setup.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

namespace buda::sim {

// Whether a netlist with at least so many tiles for an input is legal and runs.
using InputTrial = std::function<bool(const EpochRun::FullInput& input, std::int64_t tiles)>;

// The epoch is executed again with more room in one full input of the cycle, then another, up to 64 times of what it has; the smallest
// room that helps, and that `trial` confirms, is the hint: "op 'add_9': input_buf_min_size_tiles: [64, 0]". Empty where none helps.
// `stopped` began as `setup` and `entries` say.
std::string hint_for(const EpochSetup& setup, const EntriesByQueue& entries, const EpochRun& stopped, const InputTrial& trial = {});

// A netlist whose temporal epoch `epoch` has stopped.
struct StoppedEpoch {
  const netlist::Netlist& netlist;
  const device::DeviceDescriptor& device;
  std::size_t epoch = 0;
  const CoreModel& cores;
};

// Compiles the epoch with more room for an input, and executes it: the room is taken from the core's L1.
bool runs_with(const StoppedEpoch& of, Host& host, const EntriesByQueue& entries, const EpochRun::FullInput& input, std::int64_t tiles);

// The same for outputs of the cycle: their size decides in which order their tiles go where, so the epoch is compiled again for each size,
// a dozen times at most. "op 'mul_3': buf_size_mb: 4".
std::string output_hint_for(const StoppedEpoch& of, Host& host, const EntriesByQueue& entries, const EpochRun& stopped);

}  // namespace buda::sim
