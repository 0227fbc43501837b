// SPDX-License-Identifier: Apache-2.0
// Delta debugging, with estimates for a guide.
#include <buda/compiler/accuracy/give_back.hpp>

#include <algorithm>

namespace buda::compiler {
namespace {

constexpr std::size_t kMaxTrialsBack = 14;
// Estimates of what is lost may be wrong by a half.
constexpr double kBelieved = 1.5;
// A single change is tried where it is estimated to lose up to so many times what is left.
constexpr double kMaxWeightAlone = 4;

// Of the miss that is allowed: less is noise.
constexpr double kMinLeft = 1e-3;

}  // namespace

std::vector<GivingBack::Change> GivingBack::changes(const std::vector<std::size_t>& now, const std::vector<double>& left) const {
  std::vector<Change> out;
  for (std::size_t i = 0; i < now.size(); ++i) {
    const RaisableOp& op = ops_[i];
    for (std::size_t c = 0; now[i] != 0 && c < op.choices.size(); ++c) {
      const double saved = op.choices[now[i]].cost - op.choices[c].cost;
      if (c == now[i] || saved <= 0 || refused_.contains({i, c})) continue;
      Change change{i, c, 0, 0};
      for (std::size_t o = 0; o < left.size() && o < op.effects.size(); ++o)
        change.weight =
            std::max(change.weight, op.effects[o] * (op.choices[c].left - op.choices[now[i]].left) / std::max(left[o], kMinLeft));
      change.rate = saved / std::max(change.weight, kMinLeft);
      out.push_back(change);
    }
  }
  std::stable_sort(out.begin(), out.end(), [](const Change& a, const Change& b) { return a.rate > b.rate; });
  return out;
}

std::optional<std::vector<std::size_t>> GivingBack::next(const std::vector<std::size_t>& now, const std::vector<double>& left) {
  if (trials_ == kMaxTrialsBack) return std::nullopt;
  const std::vector<Change> all = changes(now, left);
  std::vector<std::size_t> out = now;
  double used = 0;
  tried_.clear();
  for (const Change& change : all) {
    if (tried_.size() == most_) break;
    if (out[change.op] != now[change.op] || used + change.weight > kBelieved) continue;
    used += change.weight;
    out[change.op] = change.choice;
    tried_.emplace_back(change.op, change.choice);
  }
  if (tried_.empty()) {
    const auto least = std::min_element(all.begin(), all.end(), [](const Change& a, const Change& b) { return a.weight < b.weight; });
    if (least == all.end() || least->weight > kMaxWeightAlone) return std::nullopt;
    out[least->op] = least->choice;
    tried_.emplace_back(least->op, least->choice);
  }
  ++trials_;
  return out;
}

void GivingBack::learn(bool better) {
  if (better) {
    most_ = 2 * tried_.size();
  } else if (tried_.size() > 1) {
    most_ = tried_.size() / 2;
  } else {
    refused_.insert(tried_.begin(), tried_.end());
  }
}

}  // namespace buda::compiler
