// SPDX-License-Identifier: Apache-2.0
// The steps of a search.
#include "search.hpp"

#include "epoch_boundary_moves.hpp"
#include "epoch_search.hpp"
#include "moves/even_channels.hpp"
#include "spread.hpp"

#include <algorithm>
#include <utility>

namespace buda::balance {
namespace {

// First placements that are improved, the best ones: so many, if for each of them every op may be placed so often.
constexpr std::size_t kFewestImproved = 2, kMaxImproved = 8, kPlacementsForImproved = 12;
// Of the ops that may still be placed once the best placement is improved, the part for its cuts in other places.
constexpr double kMovedCutsPart = 0.3;

}  // namespace

Search::Search(const Placement& empty, const Estimator& estimator, PairCost pairs, const RelaxedChip& chip, double budget)
    : placement_(empty),
      chip_(chip),
      links_(placement_, pairs),
      runs_(placement_),
      trials_(placement_, estimator, links_, runs_, chip.inputs_per_epoch, budget),
      ops_(relaxed_ops(placement_, links_.times)),
      pool_(ops_.size(), chip.cycles_per_epoch * (placement_.space().problem->microbatch / chip.inputs_per_epoch - 1)) {
  // Where choices are not estimated, nothing tells whether links hold an epoch up.
  if (trials_.estimates()) placers_.emplace_back(placement_, PlaceGoal::pairs, links_);
  placers_.emplace_back(placement_, PlaceGoal::first, links_);
}

Result<void> Search::place_first() {
  BUDA_ASSIGN(others_, first_trials(placers_, trials_, links_, runs_, ops_, chip_));
  if (!trials_.estimates()) return success();
  for (const Trial& trial : others_) pool_.add(placement_, runs_, trial);
  // What one layer of a deep network found in one trial, and another in another, goes together for all layers.
  if (auto trial = combined(pool_)) others_.insert(others_.begin(), std::move(*trial));
  return success();
}

void Search::improve() {
  if (!trials_.estimates()) {
    if (auto choice = tightened(placers_.front(), others_.front().choice)) improved_.push_back(trials_.rated(std::move(*choice)));
    return;
  }
  EpochSearch search(placers_, trials_, runs_, chip_.inputs_per_epoch < kSmallMicrobatch);
  const std::size_t count =
      std::min(others_.size(), std::clamp(trials_.ops_left() / (kPlacementsForImproved * ops_.size()), kFewestImproved, kMaxImproved));
  for (std::size_t i = 0; i <= count; ++i) {
    std::optional<Trial> start = i < count ? std::optional(others_[i]) : combined(pool_);
    if (!start) break;
    improved_.push_back(evened(search.improved(evened(std::move(*start)), trials_.ops_left() * (count - i) / (count + 1 - i))));
    pool_.add(placement_, runs_, improved_.back());
    if (i == 0) move_cuts(improved_.back());
  }
}

void Search::move_cuts(const Trial& trial) {
  const auto most = static_cast<std::size_t>(kMovedCutsPart * static_cast<double>(trials_.ops_left()));
  add_moved_cuts(placers_.front(), trials_, runs_, trial, most, pool_);
  if (auto found = combined(pool_)) improved_.push_back(std::move(*found));
}

// An epoch that writes a buffer does not know what later ones read from it.
Trial Search::evened(Trial trial) {
  auto even = with_even_channels(placement_, links_, trial.choice, {.which = Unevenness::holds_up});
  if (!even) return trial;
  Trial out = trials_.rated(std::move(*even));
  return out.is_better(trial) ? out : trial;
}

std::optional<Trial> Search::combined(EpochPool& pool) {
  auto choice = pool.best(placement_);
  if (!choice) return std::nullopt;
  return trials_.rated(std::move(*choice));
}

}  // namespace buda::balance
