// SPDX-License-Identifier: Apache-2.0
// Random device graphs.
#pragma once

#include <buda/graph/fwd.hpp>

#include <cstdint>

namespace buda::balance {

// The seeds that a test takes: 1 to `usual`, or for long runs what BUDA_RANDOM_GRAPHS=FIRST:COUNT says.
struct SeedRange {
  std::uint64_t first = 1, count = 0;
  bool is_usual = true;
  std::uint64_t end() const { return first + count; }
};
SeedRange seeds_wanted(std::uint64_t usual);

// The values of a random graph: none, and tensors of any size; or small tensors of real numbers that keep their size from layer to layer,
// or of integers that stay below 256, so that no format of 16 bits rounds them.
enum class RandomValues { none, reals, integers };

// Chains of products, convolutions, pools and depthwise convolutions with residual adds (next to each other, and far apart), softmax-like
// tails, heads along z, several inputs and outputs. Sizes are skewed: mostly small, sometimes such that epochs, streaming from DRAM, or
// nothing at all helps.
graph::Graph random_graph(std::uint64_t seed, RandomValues values = RandomValues::none);

}  // namespace buda::balance
