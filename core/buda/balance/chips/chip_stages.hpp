// SPDX-License-Identifier: Apache-2.0
// A model on several chips as a pipeline: its epochs, in their order, are cut into stages, one for each chip. While a chip works on one
// iteration of the program's loop, the chip before it works on the next one.
#pragma once

#include <buda/balance/policy/epoch_span.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace buda::balance {

// Cycles of an epoch until its first input is through, and between two inputs.
struct EpochTime {
  double first = 0, interval = 0;
  double inputs = 1;  // that it takes in an iteration
};

// By epoch: the number of its chip.
using EpochChips = std::vector<std::int32_t>;

// The epochs of a plan.
struct StagedEpochs {
  std::vector<EpochTime> times;
  // By epoch: others on whose chips it reads. A transfer between two chips takes cores of both, and of those between them.
  std::vector<std::vector<std::size_t>> reads;
  std::vector<std::int32_t> segments;  // ascending; each has a program of its own
  std::vector<bool> begins_chip;       // the user wants a chip to begin with it
  std::vector<std::int32_t> chips;     // in the order in which the stages of a segment take them
  double change = 0;                   // cycles between two epochs of a chip
  // Neighbouring epochs of different chips are loaded and run together (Features::op_to_op_across_graphs).
  bool joins_neighbours = false;
  // An iteration needs results of the one before it, so that chips wait for each other.
  bool is_sequential = false;
};

// Runs of neighbouring epochs of a segment whose chips are all different: temporal epochs, as programs execute them.
std::vector<EpochSpan> epochs_together(const EpochChips& chips, const std::vector<std::int32_t>& segments, bool joins_neighbours);

// Cycles of one iteration that each chip is busy, by chip: with its epochs, what runs together with them, and what other chips read there.
std::map<std::int32_t, double> busy_cycles(const StagedEpochs& epochs, const EpochChips& chips);
// Cycles from one iteration to the next, over all programs, where each chip goes through its epochs in the order of the program, over and
// over, and an epoch begins when all of its chips have come to it. O(epochs * chips^2).
double iteration_cycles(const StagedEpochs& epochs, const EpochChips& chips);

// The chips with which the busiest one is busy least. A chip begins where the user wants one, as far as there are chips, and elsewhere
// where that saves cycles. The chip of a stage is busy with the last epoch of the stage before, too, from which it reads its values. A
// segment begins on the chip on which the one before it ended, so that their epochs stay apart. O(epochs^2 * chips).
EpochChips best_stages(const StagedEpochs& epochs);

}  // namespace buda::balance
