// SPDX-License-Identifier: Apache-2.0
// How many tiles of its inner dimension a product of a device graph adds up at a time, where that decides how exact its sums are: a
// destination register of 16 bits rounds at every step, so that long sums are added up block by block.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/graph/fwd.hpp>

#include <cstdint>
#include <optional>

namespace buda::graph {

// A tag; its value is "LEAST-MOST".
inline constexpr const char* kSumBlocks = "sum_blocks";

// Tiles of a block, from the least to the most.
struct SumBlocks {
  std::int64_t least = 1, most = 1;
  friend bool operator==(const SumBlocks&, const SumBlocks&) = default;
};

void set_sum_blocks(Node& node, SumBlocks blocks);
// Nothing for a node without the tag. An error (GR027) names a value that is not written so.
Result<std::optional<SumBlocks>> sum_blocks(const Node& node);

}  // namespace buda::graph
