// Epochs placed one after the other at a given pace: made faster with the cores that they leave idle, or otherwise than before.
#pragma once

#include <buda/balance/solve/link_loads.hpp>
#include <buda/balance/solve/policy.hpp>

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace buda::balance {

// Where ops stand: in the first free place; where the busiest link has least to carry; or so that the op before, if its result makes a link
// too busy, is placed otherwise as well.
enum class PlaceGoal : std::uint8_t { first, links, pairs };

// Places ops of the schedule in its order.
class PacedPlacer {
 public:
  // `links` is needed for goals that mind them.
  PacedPlacer(PolicyContext& context, PlaceGoal goal, LinkModel* links = nullptr);

  PolicyContext& context() const { return context_; }
  // Places ops [begin, end) of the schedule, each with the model that takes at most its number of `cycles` per input (one number for each
  // op) and the least of what they share: the chip's cores, and what DRAM moves in so many cycles. Where none is so fast, with the fastest;
  // in further epochs where the present one has no room.
  Result<void> place(std::size_t begin, std::size_t end, std::span<const double> cycles);
  // Where the epoch of the ops that are placed next is to end.
  void expect_end(std::size_t end) { end_ = end; }

 private:
  Result<void> place_op(OpId op, double most);
  // A model and a place for an op, and the cycles of the busiest link with it.
  struct Spot {
    const OpModel* model = nullptr;
    Place place;
    double links = 0;
  };
  std::vector<const OpModel*> in_order(OpId op, double most);
  std::optional<Spot> best_spot(OpId op, double most, const std::vector<const OpModel*>& order);
  bool place_by_links(OpId op, double most);
  void place_pair(OpId producer, OpId op, double most, const Spot& found);

  PolicyContext& context_;
  // What a model reads from sources for each input: all bytes, and cycles of the channel that has the largest buffer.
  struct SourceReads {
    double bytes = 0, cycles = 0;
  };
  const std::vector<SourceReads>& source_reads(OpId op);

  PlaceGoal goal_;
  LinkModel* model_;
  std::optional<LinkLoads> links_;
  std::size_t end_;
  std::vector<std::vector<SourceReads>> reads_;  // by op and model, where they were asked for
};

// The same epochs of the same ops, which are contiguous in the schedule, each placed for a shorter interval if its ops fit the chip then.
// What the context holds is replaced. A failure where an op does not fit beside models that its producers got anew.
Result<Choice> tightened(PacedPlacer& placer, const Choice& choice);

// The cycles that an op may take that takes `own` in an epoch whose slowest op takes `interval`.
using Pace = std::function<double(double own, double interval)>;
// The same epochs of the same ops, each placed at another pace if its ops fit the chip then, and otherwise as it was.
Result<Choice> paced(PacedPlacer& placer, const Choice& choice, const Pace& pace);

// A choice of the epochs of several, which have the same ops: epoch e as choices[from[e]] has it. A failure where epochs do not go
// together.
Result<Choice> joined(PacedPlacer& placer, const std::vector<const Choice*>& choices, const std::vector<std::size_t>& from);

// Places the ops of a choice again, epoch by epoch, and visits each epoch; it ends before number `end` of the schedule.
Result<void> for_each_epoch(PolicyContext& context, const Choice& choice, const std::function<void(std::size_t end)>& visit);

}  // namespace buda::balance
