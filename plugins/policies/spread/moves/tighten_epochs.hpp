// SPDX-License-Identifier: Apache-2.0
// Epochs placed one after the other at a given pace: made faster with the cores that they leave idle, or otherwise than before.
#pragma once

#include <buda/balance/policy/placement.hpp>
#include <buda/balance/policy/replay.hpp>
#include "rating/link_loads.hpp"

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
  PacedPlacer(Placement& placement, PlaceGoal goal, LinkModel& links);

  Placement& placement() const { return placement_; }
  PlaceGoal goal() const { return goal_; }
  // Places ops [begin, end) of the schedule, each with the model that takes at most its number of `cycles` per input (one number for each
  // op) and the least of what they share: the chip's cores, and what DRAM moves in so many cycles. Where none is so fast, with the fastest;
  // in further epochs where the present one has no room.
  Result<void> place(std::size_t begin, std::size_t end, std::span<const double> cycles);
  // Places ops [begin, end) of the schedule together in an epoch of their own, the largest grids first, none slower than it may be. False,
  // and the epoch is empty, where they do not go together so. What stood from `begin` on is taken back.
  bool pack(std::size_t begin, std::size_t end, std::span<const double> cycles);
  // Where the epoch of the ops that are placed next is to end.
  void expect_end(std::size_t end) { end_ = end; }
  // Of an op of the present epoch, with the queues around it.
  double cycles(OpId op) { return cycles(op, placement_.placed(op).model); }
  // Of an op if it stood there with a model.
  double cycles(OpId op, const OpModel& model) { return model_->times.cycles(op, model, ways_in_epoch(placement_, op, end_)); }
  // Of the slowest edge to an op of the present epoch, or from it, by their order in the schedule.
  std::vector<double> edge_cycles(const std::vector<OpId>& ops);
  // Of the slowest edge to an op of the present epoch, or from it, if it stood there with a model.
  double edge_cycles_with(OpId op, const OpModel& model);
  // Of an op of a choice.
  double cycles(OpId op, const Choice& choice) {
    return model_->times.cycles(op, choice.ops[op.index()].model, ways_in_choice(placement_, choice, op));
  }

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
  // Null where the operand comes from no op of the present epoch.
  std::optional<double> edge_cycles(OpId op, const OpModel& model, std::size_t input);
  bool place_by_links(OpId op, double most);
  void place_pair(OpId producer, OpId op, double most, const Spot& found);

  Placement& placement_;
  PlaceGoal goal_;
  LinkModel* model_;
  std::optional<LinkLoads> links_;
  std::size_t end_;
};

// The same epochs of the same ops, which are contiguous in the schedule, each placed for a shorter interval if its ops fit the chip then.
// What the placement holds is replaced. A failure where an op does not fit beside models that its producers got anew.
Result<Choice> tightened(PacedPlacer& placer, const Choice& choice);

// Whether ops [begin, end) stand in one epoch, none slower than it may be; otherwise they are taken back.
bool fits_within(PacedPlacer& placer, std::size_t begin, std::size_t end, std::span<const double> cycles);

}  // namespace buda::balance
