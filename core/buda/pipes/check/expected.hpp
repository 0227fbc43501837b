// SPDX-License-Identifier: Apache-2.0
// The tiles that a buffer should receive, by the definitions of blocks, manipulations and tile orders. Internal to the checker; what others
// may ask is in consumption.hpp.
#pragma once

#include <buda/pipes/check/trace.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace buda::pipes {

struct Expected {
  std::vector<TracedTile> tiles;          // of one input
  std::vector<netlist::TileIndex> where;  // in the consumer's tensor
  // Where else the kernel takes one of `tiles`, by its place among them.
  std::vector<std::pair<netlist::TileIndex, std::size_t>> again = {};
  std::int64_t inputs = 1;     // after so many everything repeats, as far as the producer's buffer goes
  std::int64_t passes = 1;     // in that time
  std::int64_t per_input = 0;  // added to numbers from input to input; 0 for prologues
};

// Tiles that pipes see of an op's output at a time.
std::int64_t window_of(const netlist::Op& op, std::int64_t input_count);

// For a core's input, which must exist; `what` names it. Nothing after an error: PC015, PC017, PC019.
std::optional<Expected> expected_input(const CheckedEpoch& epoch, const netlist::Op& op, std::size_t input, std::int64_t core,
                                       std::int64_t input_count, const std::string& what, Findings& findings);

// For a buffer of a queue that `op` writes. PC017.
std::optional<Expected> expected_output(const netlist::Queue& queue, std::int64_t buffer, const netlist::Op& op, std::int64_t input_count,
                                        const std::string& what, Findings& findings);

}  // namespace buda::pipes
