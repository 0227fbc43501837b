// What makes an epoch go on that stopped in a cycle: a larger buffer of one input, as the netlist can ask for it.
#pragma once

#include <buda/sim/epoch_run.hpp>
#include <buda/sim/epoch_setup.hpp>

#include <string>

namespace buda::sim {

// The epoch is executed again with more room in one full input of the cycle, then another, up to 64 times of what it has; the smallest
// room that helps is the hint: "op 'add_9': input_buf_min_size_tiles: [64, 0]". Empty where none helps. `stopped` began as `setup` and
// `entries` say.
std::string hint_for(const EpochSetup& setup, const EntriesByQueue& entries, const EpochRun& stopped);

}  // namespace buda::sim
