// SPDX-License-Identifier: Apache-2.0
// Policies: which of its legal implementations each op gets, and where and when it stands.
//
// A policy goes through the ops in execution order, picks a model for each and places it; the context keeps the books: it knows the free
// workers of the present epoch, and what an op and its neighbours would need together. A policy in full:
//
//   class OneCore final : public buda::balance::Policy {
//     buda::Result<buda::balance::Choice> choose(buda::balance::PolicyContext& context) override {
//       for (auto op : context.schedule())
//         BUDA_TRY(context.place_best(op, [](const auto& a, const auto& b) { return a.cores() < b.cores(); }));
//       return context.choice();
//     }
//   };
//
// Whatever a policy returns is checked against the same resource model before anything is written.
#pragma once

#include <buda/balance/models/op_model.hpp>
#include <buda/balance/place/placer.hpp>
#include <buda/balance/problem/problem.hpp>
#include <buda/diag/result.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::balance {

// One op as chosen and placed. Epochs count from 0.
struct PlacedOp {
  OpModel model;
  std::int32_t epoch = 0;
  Place place;
  friend bool operator==(const PlacedOp&, const PlacedOp&) = default;
};

struct Choice {
  std::vector<PlacedOp> ops;  // by OpId
  // By epoch: the number of its chip; empty: all run on one (chips_of_choice.hpp). Policies leave it to what comes after them.
  std::vector<std::int32_t> chips = {};
  std::int32_t epochs() const;
  friend bool operator==(const Choice&, const Choice&) = default;
};

// Everything about the ops that does not change while a policy works.
struct ChoiceSpace {
  std::shared_ptr<const Problem> problem;
  std::vector<LegalModels> models;    // by OpId; none empty
  std::vector<OpOverride> overrides;  // by OpId
  // By OpId: the first op that has the same properties but for its names, and the same models. Empty: nothing is known of that.
  std::vector<std::size_t> kinds;
  ModelOptions options;
  std::int32_t effort = 1;            // PolicyContext::effort()
  std::int64_t placement_budget = 0;  // PolicyContext::placements_left() at first; 0: as the effort says
};

// Code of the diagnostics about what a policy did wrong.
inline constexpr const char* kIllegalChoice = "BL030";

class EdgeBook;

class PolicyContext {
 public:
  // true: a is preferred to b.
  using Preference = std::function<bool(const OpModel& a, const OpModel& b)>;

  // What the report would say of a complete choice: of each epoch the cycles that all inputs of a microbatch take. Nothing where its queues
  // do not fit DRAM, or there are no stream programs for it. It may be asked by several threads at once.
  using Estimate = std::function<std::optional<std::vector<double>>(const Choice& choice)>;

  // Cycles of all epochs, with all inputs of a microbatch, below which no estimate of a choice in the order of the schedule is.
  using Bound = std::function<double()>;

  PolicyContext(const ChoiceSpace& space, std::uint64_t seed, Estimate estimate = {}, unsigned threads = 1, Bound bound = {});
  ~PolicyContext();
  // An empty one of the same problem, for another thread. It takes from the same budget.
  PolicyContext another() const { return {*space_, seed_, estimate_, threads_, bound_, placements_left_}; }

  // ---- what there is

  const Problem& problem() const { return *space_->problem; }
  const device::DeviceDescriptor& device() const { return *space_->problem->device; }
  const ModelOptions& options() const { return space_->options; }
  // For policies that draw lots.
  std::uint64_t seed() const { return seed_; }
  // How much a policy that searches should try: 0, little; 1, as much as takes seconds; 2 and 3, several times as much. It counts what it
  // tries, and not time, so that it finds the same everywhere; what more effort finds is at least as good.
  std::int32_t effort() const { return space_->effort; }
  // How many times an op may still be placed, in all contexts of the policy together. Placing throws when the budget is used up, and the
  // policy is reported: a search that does not end cannot stop the compilation.
  std::int64_t placements_left() const { return *placements_left_; }
  // How many threads a policy may use; its choice must not depend on it.
  unsigned threads() const { return threads_; }
  // All ops, each after those that it takes inputs from. A policy may place them in any such order.
  const std::vector<OpId>& schedule() const { return schedule_; }
  // The legal implementations of an op, those with fewer cores first; never empty.
  std::span<const OpModel> models(OpId op) const { return space_->models[op.index()].models; }
  const OpSpec& op(OpId id) const { return space_->problem->op(id); }
  // Equal for ops that differ in nothing but names: what is true of one with certain models around it is true of all.
  std::size_t kind(OpId id) const { return space_->kinds.empty() ? id.index() : space_->kinds[id.index()]; }
  // What the user overrides, by OpId; models() and placing comply with it.
  const std::vector<OpOverride>& overrides() const { return space_->overrides; }
  // Where the op may stand, by the user's override and the options.
  PlaceRule place_rule(OpId op) const { return space_->overrides[op.index()].place_rule(options().allow_transpose); }

  // ---- what is decided

  bool is_placed(OpId op) const { return placed_[op.index()].has_value(); }
  // The op must be placed.
  const PlacedOp& placed(OpId op) const { return *placed_[op.index()]; }
  std::int32_t epoch() const { return epoch_; }
  // Ops of the present epoch, in the order in which they were placed.
  const std::vector<OpId>& in_epoch() const { return in_epoch_; }
  const Placer& placer() const { return placer_; }

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

  // The result; every op must be placed, or it is an illegal choice.
  Result<Choice> choice() const;
  // Whether choices can be estimated, and the estimate. It takes as long as to make a netlist and its stream programs: milliseconds for
  // tens of ops, a second for thousands.
  bool estimates() const { return estimate_ != nullptr; }
  std::optional<std::vector<double>> estimate(const Choice& choice) const { return estimate_(choice); }
  // Nothing where choices cannot be estimated. A search may end when its best choice is close to it.
  std::optional<double> bound() const { return bound_ ? std::optional(bound_()) : std::nullopt; }

 private:
  using Counter = std::shared_ptr<std::atomic<std::int64_t>>;
  PolicyContext(const ChoiceSpace& space, std::uint64_t seed, Estimate estimate, unsigned threads, Bound bound, Counter placements_left);

  void put(OpId op, const OpModel& model, const Place& place);
  std::optional<Diagnostic> objection_of_epoch(OpId op) const;
  bool fits_in(std::int32_t epoch, OpId op, const OpModel& model) const;
  bool may_stand_alone(OpId op, const OpModel& model) const;

  const ChoiceSpace* space_;
  std::uint64_t seed_;
  std::vector<OpId> schedule_;
  std::vector<std::optional<PlacedOp>> placed_;
  std::vector<OpId> history_;  // in the order of placing, over all epochs
  std::vector<OpId> in_epoch_;
  std::int32_t epoch_ = 0;
  Placer placer_;
  std::unique_ptr<EdgeBook> edges_;
  Estimate estimate_;
  Bound bound_;
  Counter placements_left_;
  unsigned threads_;
};

class Policy {
 public:
  virtual ~Policy() = default;
  virtual Result<Choice> choose(PolicyContext& context) = 0;
  // Whether ops that fit without streaming get models that stream as well. They have several times as many models then.
  virtual bool streams_all() const { return false; }
};

// Is every op placed once, with a legal model, inside the chip, overlapping nobody, not before its producers, at epoch breaks where the
// user wants them, and does every core fit with its neighbours? All findings. What a policy makes wrong is its author's bug, and says so.
std::vector<Diagnostic> check_choice(const ChoiceSpace& space, const Choice& choice);

}  // namespace buda::balance

#pragma GCC visibility pop
