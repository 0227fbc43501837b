// SPDX-License-Identifier: Apache-2.0
// How buffers of queues are shared out among the channels of DRAM.
#pragma once

#include <cstdint>
#include <string_view>

#pragma GCC visibility push(default)

namespace buda::balance {

// by_load: so that the busiest channel of each epoch moves little more than the others (load_placement.hpp). The others are PyBuda's:
// round_robin: the channels in turn;
// flip_flop: buffers that ops of even epochs write in turn over the first half of the channels, those of odd epochs over the second, and
//   what the host writes over all;
// greatest_capacity: where most is free;
// closest: where the hops between the channel and the workers that read and write the buffer are fewest, of channels that its epoch does
//   not use yet.
enum class DramAlgorithm : std::uint8_t { by_load, round_robin, flip_flop, greatest_capacity, closest };

// By DramAlgorithm, as options name them.
inline constexpr std::string_view kDramAlgorithms[] = {"BY_LOAD", "ROUND_ROBIN", "ROUND_ROBIN_FLIP_FLOP", "GREATEST_CAPACITY", "CLOSEST"};

}  // namespace buda::balance

#pragma GCC visibility pop
