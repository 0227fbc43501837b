// SPDX-License-Identifier: Apache-2.0
// The shortest way through the cuts of all plans.
#include "epoch_pool.hpp"

#include "moves/tighten_epochs.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace buda::balance {
namespace {

// Epochs that may turn out not to stand before the pool gives up.
constexpr int kMaxDropped = 64;

// Whether models and places are those of ops [begin, ...) of a choice; numbers of epochs may differ.
bool is_same(const Placement& placement, const std::vector<PlacedOp>& ops, const Choice& choice, std::size_t begin) {
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const PlacedOp& other = choice.ops[placement.schedule()[begin + i].index()];
    if (!(ops[i].place == other.place && ops[i].model == other.model)) return false;
  }
  return true;
}

}  // namespace

void EpochPool::add(const Placement& placement, RepeatedRuns& runs, const Trial& trial) {
  const auto bounds = bounds_of(placement, trial.choice);
  for (std::size_t e = 0; e + 1 < bounds.size(); ++e) {
    RatedEpoch epoch{{}, trial.epochs[e]};
    for (std::size_t i = bounds[e]; i < bounds[e + 1]; ++i) epoch.ops.push_back(trial.choice.ops[placement.schedule()[i].index()]);
    add(runs, bounds[e], std::move(epoch));
  }
}

void EpochPool::add(RepeatedRuns& runs, std::size_t begin, RatedEpoch epoch) {
  const std::size_t length = epoch.ops.size();
  const auto placed = std::make_shared<const std::vector<PlacedOp>>(std::move(epoch.ops));
  for (std::size_t start : runs.starts(begin, begin + length)) {
    const auto [known, fresh] = epochs_.try_emplace({start, start + length});
    if (fresh || known->second.cycles > epoch.cycles) known->second = {epoch.cycles, placed};
  }
}

void EpochPool::add(const EpochPool& other) {
  for (const auto& [run, epoch] : other.epochs_) {
    const auto [known, fresh] = epochs_.try_emplace(run, epoch);
    if (!fresh && epoch.cycles < known->second.cycles) known->second = epoch;
  }
}

void EpochPool::correct(const Placement& placement, RepeatedRuns& runs, const Trial& trial) {
  const auto bounds = bounds_of(placement, trial.choice);
  for (std::size_t e = 0; e + 1 < bounds.size(); ++e) {
    const std::size_t begin = bounds[e], end = bounds[e + 1];
    const auto found = epochs_.find({begin, end});
    if (found == epochs_.end() || !is_same(placement, *found->second.ops, trial.choice, begin)) continue;
    found->second.cycles = trial.epochs[e];
    // Those that the trial has as epochs, too, are corrected by themselves.
    for (std::size_t start : runs.starts(begin, end)) {
      const auto like = epochs_.find({start, start + (end - begin)});
      if (like == epochs_.end() || like->second.ops != found->second.ops) continue;
      const auto at = std::lower_bound(bounds.begin(), bounds.end(), start);
      const bool is_epoch = *at == start && *(at + 1) == start + (end - begin);
      if (!is_epoch) like->second.cycles = trial.epochs[e];
    }
  }
}

std::vector<EpochPool::Run> EpochPool::best_cuts() const {
  std::vector<double> least(ops_ + 1, std::numeric_limits<double>::infinity());
  std::vector<std::size_t> from(ops_ + 1, 0);
  least[0] = 0;
  // In the order of their first ops: whatever ends there has been seen.
  for (const auto& [run, epoch] : epochs_) {
    const double cycles = least[run.first] + epoch.cycles + cycles_per_epoch_;
    if (cycles >= least[run.second]) continue;
    least[run.second] = cycles;
    from[run.second] = run.first;
  }
  if (least[ops_] == std::numeric_limits<double>::infinity()) return {};
  std::vector<Run> out;
  for (std::size_t end = ops_; end > 0; end = from[end]) out.push_back({from[end], end});
  std::reverse(out.begin(), out.end());
  return out;
}

std::optional<Choice> EpochPool::best(Placement& placement) {
  for (int dropped = 0; dropped < kMaxDropped; ++dropped) {
    const std::vector<Run> cuts = best_cuts();
    if (cuts.empty()) return std::nullopt;
    placement.rewind(placement.schedule().front());
    Choice wanted;
    wanted.ops.resize(ops_);
    const auto stands = [&](const Run& run) {
      const Epoch& epoch = epochs_.at(run);
      for (std::size_t i = 0; i < epoch.ops->size(); ++i) wanted.ops[placement.schedule()[run.first + i].index()] = (*epoch.ops)[i];
      placement.next_epoch();
      return stand_as_in(placement, run.first, run.second, wanted);
    };
    const auto misfit = std::find_if_not(cuts.begin(), cuts.end(), stands);
    if (misfit == cuts.end()) {
      auto choice = placement.choice();
      if (!choice) return std::nullopt;
      return std::move(*choice);
    }
    epochs_.erase(*misfit);
  }
  return std::nullopt;
}

}  // namespace buda::balance
