// SPDX-License-Identifier: Apache-2.0
// Policies: which of its legal implementations each op gets, and where and when it stands.
//
// A policy goes through the ops in execution order, picks a model for each and places it. A policy in full:
//
//   class OneCore final : public buda::balance::Policy {
//     buda::Result<buda::balance::Choice> choose(buda::balance::Placement placement, const buda::balance::Estimator&) override {
//       for (auto op : placement.schedule())
//         BUDA_TRY(placement.place_best(op, [](const auto& a, const auto& b) { return a.cores() < b.cores(); }));
//       return placement.choice();
//     }
//   };
//
// Whatever a policy returns is checked against the same resource model before anything is written.
#pragma once

#include <buda/balance/policy/choice_space.hpp>
#include <buda/balance/policy/placement.hpp>
#include <buda/diag/result.hpp>

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::balance {

// What is known of complete choices.
class Estimator {
 public:
  // What the report would say of a choice: of each epoch the cycles that all inputs of a microbatch take. Nothing where its queues do not
  // fit DRAM, or there are no stream programs for it. It may be asked by several threads at once.
  using Estimate = std::function<std::optional<std::vector<double>>(const Choice& choice)>;
  // Cycles of all epochs, with all inputs of a microbatch, below which no estimate of a choice in the order of the schedule is.
  using Bound = std::function<double()>;

  // Without an estimate, choices cannot be estimated.
  Estimator() = default;
  explicit Estimator(Estimate estimate, Bound bound = {}) : estimate_(std::move(estimate)), bound_(std::move(bound)) {}

  bool estimates() const { return estimate_ != nullptr; }
  // It takes as long as to make a netlist and its stream programs: milliseconds for tens of ops, a second for thousands.
  std::optional<std::vector<double>> estimate(const Choice& choice) const { return estimate_(choice); }
  // Nothing where choices cannot be estimated. A search may end when its best choice is close to it.
  std::optional<double> bound() const { return bound_ ? std::optional(bound_()) : std::nullopt; }

 private:
  Estimate estimate_;
  Bound bound_;
};

class Policy {
 public:
  virtual ~Policy() = default;
  // `placement` has no op yet; copies of it serve a policy that tries several.
  virtual Result<Choice> choose(Placement placement, const Estimator& estimator) = 0;
  // Whether ops that fit without streaming get models that stream as well. They have several times as many models then.
  virtual bool streams_all() const { return false; }
};

}  // namespace buda::balance

#pragma GCC visibility pop
