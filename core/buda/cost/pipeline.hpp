// SPDX-License-Identifier: Apache-2.0
// How fast inputs pass through ops that stand beside each other: what buffers between them hold, what an op gives only when it has taken
// all, and what it costs streams to take turns. docs/internals/balancing.md, "Cost", says where the figures come from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::cost {

// Parts and counts are those of the tensor of one input, as one core gives or takes it.
struct PipelineInput {
  static constexpr std::size_t kQueue = static_cast<std::size_t>(-1);
  std::size_t from = kQueue;  // the op that gives it, an earlier one
  double transfer = 0;        // cycles to bring it to a core
  double latency = 0;         // cycles from where a tile was sent to where it is used; of a queue, from where it is asked for
  double block = 1;           // part that the kernel takes and frees at once
  double room = 2;            // that the kernel's buffer holds
  double window = 1;          // part of the producer's result that is shown at once
  bool in_order = true;       // whether each tile's room is free when it is sent; otherwise that of a window
  double lead = 0;            // part of a window by which the producer has to be ahead
};

struct PipelineOp {
  double kernel = 0;               // cycles
  double rounds = 1;               // in each, the kernel first gathers, then gives
  double gathers = 0;              // part of a round in which it gives nothing
  bool gathers_in_output = false;  // where the results will be
  double room = 2;                 // that the output's buffer holds
  double write = 0;                // cycles to write the result to a queue; 0: no queue takes it
  double start = 0;                // cycles until its cores have their programs
  double before = 0;               // cycles from then on, until they have what is loaded before the first input
  std::vector<PipelineInput> inputs;
};

// Cycles until all ops have done with the first input, and from one input to the next when many have come.
struct PipelineTimes {
  double first = 0, interval = 0;
};

// Cycles until each op, and all of them, have done with an input: until the result is made, and those that take it have it.
struct PipelineEnds {
  std::vector<double> ops;
  double all = 0;
};

// `ops`: in an order in which each is behind those that it takes from. An input is followed in parts, kPipelineParts of them; whatever is
// smaller than a part counts as one. O(ops and inputs of ops).
PipelineTimes pipeline_times(std::span<const PipelineOp> ops);
// With input number `input`, from 1; of those that are followed.
PipelineEnds pipeline_ends(std::span<const PipelineOp> ops, std::int64_t input);
inline constexpr std::int64_t kFollowedInputs = 10;
inline constexpr std::size_t kPipelineParts = 24;

}  // namespace buda::cost

#pragma GCC visibility pop
