// The steps of a search.
#include <buda/balance/solve/search.hpp>

#include <buda/balance/solve/epoch_search.hpp>
#include <buda/balance/solve/spread.hpp>

#include <algorithm>
#include <utility>

namespace buda::balance {
namespace {

// First placements that are improved, the best ones: so many, if for each of them every op may be placed so often.
constexpr std::size_t kFewestImproved = 2, kMostImproved = 8, kPlacementsForImproved = 12;

}  // namespace

Search::Search(const PolicyContext& parent, PairCost pairs, const RelaxedChip& chip)
    : context_(parent.another()),
      chip_(chip),
      links_(context_, pairs),
      trials_(context_, links_, chip.inputs_per_epoch),
      ops_(relaxed_ops(context_, links_.times)),
      pool_(ops_.size(), kEpochChangeCycles * context_.problem().microbatch / chip.inputs_per_epoch) {
  // Where choices are not estimated, nothing tells whether links hold an epoch up.
  if (trials_.estimates()) placers_.emplace_back(context_, PlaceGoal::pairs, links_);
  placers_.emplace_back(context_, PlaceGoal::first, links_);
}

Result<void> Search::run() {
  BUDA_ASSIGN(others_, first_trials(placers_, trials_, links_, ops_, chip_));
  if (!trials_.estimates()) {
    auto choice = tightened(placers_.front(), others_.front().choice);
    if (!choice) return success();
    improved_.push_back(trials_.rated(std::move(*choice)));
    return success();
  }
  for (const Trial& trial : others_) pool_.add(context_, trial);
  EpochSearch search(placers_, trials_, chip_.inputs_per_epoch < kFewInputs);
  const std::size_t count =
      std::min(others_.size(), std::clamp(trials_.ops_left() / (kPlacementsForImproved * ops_.size()), kFewestImproved, kMostImproved));
  for (std::size_t i = 0; i <= count; ++i) {
    std::optional<Trial> start = i < count ? std::optional(others_[i]) : combined(pool_);
    if (!start) break;
    improved_.push_back(search.improved(std::move(*start), trials_.ops_left() * (count - i) / (count + 1 - i)));
    pool_.add(context_, improved_.back());
  }
  return success();
}

std::optional<Trial> Search::combined(EpochPool& pool) {
  auto choice = pool.best(context_);
  if (!choice) return std::nullopt;
  return trials_.rated(std::move(*choice));
}

}  // namespace buda::balance
