// SPDX-License-Identifier: Apache-2.0
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
  double inputs = 0;  // that its epoch takes; 0: as many as the chip says
  // Bytes of one input that go through DRAM: always, where an operand's op is in an earlier epoch, and where a user is in a later
  // one.
  double dram_bytes = 0;
  // A tensor that passes between this op and another, by the other's number.
  struct Edge {
    std::size_t other = 0;
    double bytes = 0;
    double cycles = 0;  // from one input to the next if both are in one epoch, as far as is known
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
  // What a byte of a result that later epochs read counts for beside its traffic: their queues take room in DRAM.
  double cycles_per_written_byte = 0;
};

// What the cores of an epoch are shared out for: that its slowest op is fast, or that one input comes through all its ops soon.
enum class RelaxedGoal : std::uint8_t { interval, latency };

// An epoch of the ops [begin, end).
struct RelaxedEpoch {
  std::size_t begin = 0, end = 0;
  double interval = 0;         // cycles between inputs: no op takes longer, nor does DRAM
  std::vector<double> cycles;  // that each of its ops may take
};

// The cuts of the least total of cycles per input. The ops of an epoch share the chip by the goal: at the shortest interval for which the
// least cores of all together fit, or so that no core would save more cycles at another op. The first input takes as long as all ops one
// after the other, or as its DRAM traffic, and the change of epochs; each further one as long as the slowest op, the slowest edge between
// two of them, or the traffic. O(ops * ops of an epoch * choices of an op).
std::vector<RelaxedEpoch> relaxed_epochs(const std::vector<RelaxedOp>& ops, const RelaxedChip& chip,
                                         RelaxedGoal goal = RelaxedGoal::interval);

// The same cuts of what remains of a schedule, from any op on. They take more memory.
class RelaxedCuts {
 public:
  // `ops` must outlive it.
  RelaxedCuts(const std::vector<RelaxedOp>& ops, const RelaxedChip& chip, RelaxedGoal goal = RelaxedGoal::interval);

  // The least total of cycles per input of ops [begin, the last]; 0 behind the last.
  double rest(std::size_t begin) const { return best_[begin].rest; }
  // The first epoch of theirs.
  RelaxedEpoch epoch_from(std::size_t begin) const;

 private:
  struct Best {
    std::size_t end = 0;
    double interval = 0, rest = 0;
  };
  const std::vector<RelaxedOp>& ops_;
  RelaxedChip chip_;
  RelaxedGoal goal_;
  std::vector<Best> best_;  // by first op
};

// Of choices in any order those that no other beats, as RelaxedOp has them.
std::vector<CoreCost> best_choices(std::vector<CoreCost> choices);

}  // namespace buda::balance

#pragma GCC visibility pop
