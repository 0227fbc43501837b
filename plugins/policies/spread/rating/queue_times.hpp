// SPDX-License-Identifier: Apache-2.0
// How long ops take where queues bring their operands and take their results: a core moves less to and from DRAM than to and from cores.
#pragma once

#include <buda/balance/policy/placement.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace buda::balance {

// Which operands of an op come from earlier epochs, by bit, and whether later ones read its result.
struct QueueWays {
  std::uint32_t read = 0;
  bool written = false;
};

// Of an op that stands, or is about to stand, in the placement's present epoch, which ends before number `end` of the schedule.
QueueWays ways_in_epoch(const Placement& placement, OpId op, std::size_t end);
// Of an op of a choice.
QueueWays ways_in_choice(const Placement& placement, const Choice& choice, OpId op);

// Cycles of ops as the report counts them, but for the paths that the ops of an epoch share. They are worked out once for each model.
class QueueTimes {
 public:
  explicit QueueTimes(const Placement& placement)
      : placement_(placement), times_(placement.schedule().size()), reads_(times_.size()), read_again_(times_.size()) {}

  // The model is one of placement.space().models_of(op), or a copy of one.
  double cycles(OpId op, const OpModel& model, QueueWays ways);

  // What a model reads from sources for each input: all bytes, and cycles of the channel that has the largest buffer.
  struct SourceReads {
    double bytes = 0, cycles = 0;
  };
  // By model of the op.
  const std::vector<SourceReads>& source_reads(OpId op);

  // Cycles of later epochs, for which a channel reads one of the buffers that the model's result lies in: where a reader takes it many
  // times over, and more cores would spread it over more channels; otherwise 0.
  double read_again(OpId op, const OpModel& model);

  // OpModel::cycles counts all ops beside each other.
  struct Times {
    std::vector<double> read;  // of each operand, through a queue
    double written = 0;
  };
  const Times& times(OpId op, const OpModel& model);

 private:
  const Placement& placement_;
  // By kind of op and by model, where they were asked for.
  std::vector<std::vector<Times>> times_;
  std::vector<std::vector<SourceReads>> reads_;
  // By op: bytes that a reader takes, where they are many times the result; and the most buffers that help.
  struct ReadAgain {
    double bytes = 0;
    std::int64_t buffers = 0;
  };
  std::vector<std::optional<ReadAgain>> read_again_;
};

}  // namespace buda::balance
