// How a schedule would be cut into epochs if ops could share the chip's cores without regard to shapes, streams and neighbours: a bound for
// what a policy can reach, and what it aims at (docs/internals/balancing.md, "Epochs").
#pragma once

#include <cstdint>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::balance {

// What an op of a pipeline costs.
struct CoreCost {
  std::int64_t cores = 0;
  double cycles = 0;  // of one input
};

struct RelaxedOp {
  std::vector<CoreCost> choices;  // ascending cores, descending cycles: what no other choice beats; never empty
  bool begins_epoch = false;
  // Bytes of one input that go through DRAM: always, where an operand's op is in an earlier epoch, and where a user is in a later
  // one.
  double dram_bytes = 0;
  // A tensor that passes between this op and another, by the other's number.
  struct Edge {
    std::size_t other = 0;
    double bytes = 0;
  };
  std::vector<Edge> operands;  // from earlier ops
  double result_bytes = 0;
  std::size_t last_user = 0;  // number of the last op that reads the result; the op's own without any
};

struct RelaxedChip {
  std::int64_t cores = 1;
  double dram_bytes_per_cycle = 1;
  double inputs_per_epoch = 64;  // over which what an epoch takes once is divided
  double cycles_per_epoch = 0;   // to change from one epoch to the next
};

// An epoch of the ops [begin, end).
struct RelaxedEpoch {
  std::size_t begin = 0, end = 0;
  double interval = 0;  // cycles between inputs: no op takes longer, nor does DRAM
};

// The cuts of the least total of cycles per input. An epoch has the interval at which the least cores of its ops together fit the chip; it
// costs that or the cycles of its DRAM traffic, whichever is larger, and its share of the change of epochs and of the first input's way
// through its ops. O(ops * ops of an epoch * choices of an op).
std::vector<RelaxedEpoch> relaxed_epochs(const std::vector<RelaxedOp>& ops, const RelaxedChip& chip);

// Of choices in any order those that no other beats, as RelaxedOp has them.
std::vector<CoreCost> best_choices(std::vector<CoreCost> choices);

}  // namespace buda::balance

#pragma GCC visibility pop
