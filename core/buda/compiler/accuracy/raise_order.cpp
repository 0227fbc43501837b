// SPDX-License-Identifier: Apache-2.0
// Greedy, one step after the other.
#include <buda/compiler/accuracy/raise_order.hpp>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

namespace buda::compiler {
namespace {

// Savings below this part of what the op has lost at first are noise of the measurement.
constexpr double kMinSaved = 0.02;
// Of what the criterion allows, so that estimates which are a little off need no further trial.
constexpr double kAimedMiss = 0.9;
// How often the aim is halved: estimates are not better.
constexpr int kMaxHalvings = 10;

class Greedy {
 public:
  Greedy(const std::vector<RaisableOp>& ops, const std::vector<double>& misses) : ops_(ops), misses_(misses), chosen_(ops.size(), 0) {}

  RaiseOrder run() {
    RaiseOrder out;
    double aim = kAimedMiss;
    for (int k = 0; k <= kMaxHalvings; ++k, aim /= 2) {
      ways_.clear();
      for (const double m : misses_) ways_.push_back(std::max(0.0, m - aim));
      while (const std::optional<RaiseStep> next = best_step(aim)) {
        take(*next);
        out.steps.push_back(*next);
      }
      if (k == 0) out.enough = out.steps.size();
    }
    return out;
  }

 private:
  double saved(const RaisableOp& op, std::size_t from, std::size_t to, std::size_t output) const {
    return op.effects[output] * (op.choices[from].left - op.choices[to].left);
  }

  // Parts of the outputs' ways.
  double gain(const RaisableOp& op, std::size_t from, std::size_t to, double aim) const {
    double out = 0;
    for (std::size_t o = 0; o < misses_.size(); ++o) {
      const double left = misses_[o] - aim;
      if (left > 0 && ways_[o] > 0) out += std::min(saved(op, from, to, o), left) / ways_[o];
    }
    return out;
  }

  std::optional<RaiseStep> best_step(double aim) const {
    std::optional<RaiseStep> out;
    double best_rate = 0, best_gain = 0;
    for (std::size_t i = 0; i < ops_.size(); ++i) {
      const RaisableOp& op = ops_[i];
      if (op.effects.empty()) continue;
      const std::size_t from = chosen_[i];
      for (std::size_t c = 1; c < op.choices.size(); ++c) {
        if (op.choices[from].left - op.choices[c].left <= kMinSaved) continue;
        const double its_gain = gain(op, from, c, aim), more = op.choices[c].cost - op.choices[from].cost;
        if (its_gain <= 0) continue;
        const double rate = more > 0 ? its_gain / more : std::numeric_limits<double>::infinity();
        if (out && (rate < best_rate || (rate == best_rate && its_gain <= best_gain))) continue;
        best_rate = rate;
        best_gain = its_gain;
        out = RaiseStep{i, c};
      }
    }
    return out;
  }

  void take(const RaiseStep& step) {
    for (std::size_t o = 0; o < misses_.size(); ++o) misses_[o] -= saved(ops_[step.op], chosen_[step.op], step.choice, o);
    chosen_[step.op] = step.choice;
  }

  const std::vector<RaisableOp>& ops_;
  std::vector<double> misses_, ways_;  // by output
  std::vector<std::size_t> chosen_;
};

}  // namespace

std::vector<RaisableOp> scaled_to(std::vector<RaisableOp> ops, const std::vector<double>& misses) {
  for (std::size_t o = 0; o < misses.size(); ++o) {
    double sum = 0;
    for (const RaisableOp& op : ops)
      if (!op.effects.empty()) sum += op.effects[o];
    for (RaisableOp& op : ops)
      if (!op.effects.empty() && sum > 0) op.effects[o] *= misses[o] / sum;
  }
  return ops;
}

RaiseOrder raise_order(const std::vector<RaisableOp>& ops, const std::vector<double>& misses) { return Greedy(ops, misses).run(); }

}  // namespace buda::compiler
