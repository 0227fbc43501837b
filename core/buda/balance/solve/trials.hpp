// Choices compared by what the report would say of them.
#pragma once

#include <buda/balance/solve/policy.hpp>

#include <cstddef>
#include <optional>
#include <vector>

namespace buda::balance {

// A choice and its cycles.
struct Trial {
  Choice choice;
  bool fails = false;          // it cannot be built: its queues do not fit DRAM, or there are no stream programs for it
  double cycles = 0;           // of one input, with its share of the change of epochs
  std::vector<double> epochs;  // of each epoch with all its inputs, where they are estimated; empty where they are not
  bool is_better(const Trial& other) const { return fails != other.fails ? other.fails : cycles < other.cycles; }
};

// Rates choices, as many by the context's estimate as its problem's size allows, and keeps the best.
class Trials {
 public:
  // `inputs`: over which the change of epochs is divided.
  Trials(const PolicyContext& context, double inputs);

  // Whether the context estimates choices of this size at all.
  bool estimates() const { return estimates_; }
  // Estimates that may still be made.
  std::size_t left() const { return left_; }
  // Rates a choice by its ops alone: the slowest of each epoch.
  Trial rated(Choice choice) const;
  // Estimates it, as long as any are left. The trial is kept if it is better than those before.
  Trial estimated(Choice choice);
  const std::optional<Trial>& best() const { return best_; }
  Trial take() { return std::move(*best_); }

 private:
  const PolicyContext& context_;
  double inputs_;
  bool estimates_;
  std::size_t left_;
  std::optional<Trial> best_;
};

}  // namespace buda::balance
