// SPDX-License-Identifier: Apache-2.0
// Lower bounds of the time that plans can take (docs/internals/balancing.md, "Bounds").
//
// The universal bound holds for every plan: no op occupies fewer cores for fewer cycles than the best kernel of its implementations, and
// what every plan reads and writes passes through DRAM. The schedule bound holds for plans whose epochs are sections of the schedule: it is
// the least sum over all cuts, where ops share the chip's cores without regard to shapes, streams and neighbours.
#pragma once

#include <buda/balance/bounds/relaxed_epochs.hpp>
#include <buda/balance/policy/choice_space.hpp>
#include <buda/balance/queues/queues.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace buda::balance {

// What an op costs at least. Bytes are those of one input.
struct BoundedOp {
  std::vector<CoreCost> choices;  // as in RelaxedOp: ascending cores, descending cycles; cycles are whole
  bool begins_epoch = false;
  std::int64_t inputs = 1;  // that its epoch takes
  // A tensor that is read, by the number of its op or of its source.
  struct Read {
    std::size_t from = 0;
    double bytes = 0;
  };
  std::vector<Read> sources;   // from DRAM, whatever the epochs
  std::vector<Read> operands;  // of earlier ops, from DRAM if these are in earlier epochs
  double result_bytes = 0;
  bool is_written = false;    // to DRAM, whatever the epochs
  std::size_t last_user = 0;  // number of the last op that reads the result; the op's own without any
};

struct BoundedChip {
  std::int64_t cores = 1;
  double dram_bytes_per_cycle = 1;
  // Cycles before each epoch, and before one on so many cores.
  double epoch_change = 0, epoch_change_per_core = 0;
  // Whether an op may begin with the first tiles of an input, while the op before still makes the others.
  bool ops_overlap = false;
  double change_cycles(std::int64_t used_cores) const {
    return std::floor(epoch_change + epoch_change_per_core * static_cast<double>(used_cores));
  }
};

// Cycles of all inputs of an epoch, over all epochs.
struct UniversalBound {
  double cores = 0;  // that the cores of the chip take together
  double op = 0;     // that the slowest op takes
  double dram = 0;
  double cycles() const;
  std::string_view limiter() const;  // of which the cycles are: "cores", "slowest op", "DRAM"
};
UniversalBound universal_bound(const std::vector<BoundedOp>& ops, const BoundedChip& chip);

// O(ops * ops of an epoch * choices of an op).
class ScheduleBound {
 public:
  ScheduleBound(std::vector<BoundedOp> ops, const BoundedChip& chip);

  // Cycles of all inputs of an epoch, over the epochs of the best cuts.
  double cycles() const { return least_.back(); }
  // Of the ops [begin, end) as one epoch, with the change to it; infinity where they do not fit the chip.
  double of_epoch(std::size_t begin, std::size_t end) const;
  // Where the epochs of the best cuts begin, and the end of the schedule.
  std::vector<std::size_t> cuts() const;

 private:
  std::vector<BoundedOp> ops_;
  BoundedChip chip_;
  std::vector<double> least_;      // by number of ops from the first on
  std::vector<std::size_t> from_;  // where the last of their epochs begins
};

// What is known of a problem's ops before any is placed: the kernels of the implementations among which policies choose. What transfers
// take is known once streams are laid out, and may be less than models expect.
std::vector<BoundedOp> bounded_ops(const ChoiceSpace& space, const QueueOptions& queues);
BoundedChip bounded_chip(const ChoiceSpace& space);

// Whether the epochs of a choice are sections of the schedule.
bool follows_schedule(const Choice& choice);

}  // namespace buda::balance
