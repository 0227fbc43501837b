// SPDX-License-Identifier: Apache-2.0
// How often an op of a device graph rounds each of its sums, where the balancer may give them more bits.
#pragma once

#include <string_view>

namespace buda::graph {

// A tag; its value is that number. The op adds up in a destination register of 16 bits because nobody asked for anything else, not because
// of what it computes, and may do so in Float32.
inline constexpr std::string_view kSumRoundings = "sum_roundings";

}  // namespace buda::graph
