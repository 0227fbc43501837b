// SPDX-License-Identifier: Apache-2.0
// A part of a choice: which ops are placed so far, with which models, where and when; and the rules by which the next one may be placed.
//
// A placement is a value: a copy goes its own way. It keeps the books: the free workers of the present epoch, and what an op and its
// neighbours would need together.
#pragma once

#include <buda/balance/models/op_model.hpp>
#include <buda/balance/place/placer.hpp>
#include <buda/balance/policy/choice_space.hpp>
#include <buda/diag/result.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::balance {

class EdgeBook;

class Placement {
 public:
  // true: a is preferred to b.
  using Preference = std::function<bool(const OpModel& a, const OpModel& b)>;

  // Of no op yet. `space` must outlive the placement and its copies.
  explicit Placement(const ChoiceSpace& space);
  Placement(const Placement& other);
  Placement& operator=(const Placement& other);
  Placement(Placement&&) noexcept;
  Placement& operator=(Placement&&) noexcept;
  ~Placement();

  const ChoiceSpace& space() const { return *space_; }
  // All ops, each after those that it takes inputs from. They may be placed in any such order.
  const std::vector<OpId>& schedule() const { return schedule_; }
  // How many times an op may still be placed, in this placement and all copies of the first one together. Placing throws when the budget is
  // used up, and the policy is reported: a search that does not end cannot stop the compilation.
  std::int64_t placements_left() const { return *placements_left_; }

  // ---- what is decided

  bool is_placed(OpId op) const { return placed_[op.index()].has_value(); }
  // The op must be placed.
  const PlacedOp& placed(OpId op) const { return *placed_[op.index()]; }
  std::int32_t epoch() const { return epoch_; }
  // Ops of the present epoch, in the order in which they were placed.
  const std::vector<OpId>& in_epoch() const { return in_epoch_; }
  const Placer& placer() const { return placer_; }
  // All ops; one that is not placed makes it an illegal choice.
  Result<Choice> choice() const;

  // ---- deciding

  // Why the model cannot stand in the present epoch beside what is there, free workers apart; nothing when it can. An op whose producers
  // are not all placed cannot, nor can one that the user wants to begin an epoch when there are others already.
  std::optional<Diagnostic> objection(OpId op, const OpModel& model) const;
  // Whether there is none, without the account of why.
  bool may_stand(OpId op, const OpModel& model) const;
  // Places the op at the first free place. False, and nothing is done, if there is no room or an objection.
  bool place(OpId op, const OpModel& model);
  // The same at a certain place.
  bool place_at(OpId op, const OpModel& model, Place place);
  // Places the op with the model that is preferred among those that can stand in the present epoch. False, and nothing is done, if none
  // can; or if a model that is worth an epoch, as compared with those that can, could stand in an epoch of its own. `worth_an_epoch(a, b)`
  // implies `preferred(a, b)`; empty: no model is.
  bool place_preferred(OpId op, const Preference& preferred, const Preference& worth_an_epoch = {});
  // As place_preferred(); if no model can stand here, begins an epoch and tries again. The failure tells why none can stand in an epoch of
  // its own.
  Result<void> place_best(OpId op, const Preference& preferred, const Preference& worth_an_epoch = {});
  // Begins an epoch; does nothing when the present one is empty.
  void next_epoch();
  // Takes back the op and everything that was placed after it.
  void rewind(OpId op);

 private:
  void put(OpId op, const OpModel& model, const Place& place);
  std::optional<Diagnostic> objection_of_epoch(OpId op) const;
  bool fits_in(std::int32_t epoch, OpId op, const OpModel& model) const;

  const ChoiceSpace* space_;
  std::vector<OpId> schedule_;
  std::vector<std::optional<PlacedOp>> placed_;
  std::vector<OpId> history_;  // in the order of placing, over all epochs
  std::vector<OpId> in_epoch_;
  std::int32_t epoch_ = 0;
  Placer placer_;
  std::unique_ptr<EdgeBook> edges_;
  std::shared_ptr<std::atomic<std::int64_t>> placements_left_;  // shared by copies
};

}  // namespace buda::balance

#pragma GCC visibility pop
