// SPDX-License-Identifier: Apache-2.0
// Searches beside each other, and the best of what they find.
#include "spread.hpp"

#include <buda/base/parallel.hpp>
#include <buda/cost/transfer_model.hpp>
#include "exhaustive_search.hpp"
#include "moves/even_channels.hpp"
#include "search.hpp"

#include <algorithm>
#include <bit>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace buda::balance {
namespace {

// Plans put together from epochs whose estimates are known.
constexpr int kCombined = 3;
// By how much a plan may take longer whose channels of DRAM have more alike to move: less than the estimate is sure of.
constexpr double kAsFast = 1.01;
// For that, how many times as long an op may take, and how many kinds of ops are tried one after the other.
constexpr double kSlowerModel = 1.15;
constexpr std::size_t kMaxOpKinds = 4;
// By effort: how many times as many ops a search may place. Each effort does what those before it do as well.
constexpr double kBudgets[] = {1, 1, 2.5, 5};
// Problems of which all plans are tried, within a budget of a tenth of a second; with more effort, of seconds.
constexpr std::size_t kSmallProblemOps = 12, kMediumProblemOps = 24;
constexpr TryAllBudget kSmallBudget{20'000, 20'000};

using Searches = std::vector<std::unique_ptr<Search>>;

// Without those that repeat one before them.
std::vector<Trial> unlike(std::vector<Trial> trials) {
  std::vector<Trial> out;
  for (Trial& trial : trials)
    if (std::none_of(out.begin(), out.end(), [&](const Trial& t) { return t.cycles == trial.cycles && t.choice == trial.choice; }))
      out.push_back(std::move(trial));
  return out;
}

// What was improved, then the other placements, the best of all searches first.
std::vector<Trial> all_trials(Searches& searches) {
  std::vector<Trial> out, others;
  for (const auto& search : searches) {
    std::move(search->improved().begin(), search->improved().end(), std::back_inserter(out));
    std::move(search->others().begin(), search->others().end(), std::back_inserter(others));
  }
  const auto better = [](const Trial& a, const Trial& b) { return a.is_better(b); };
  std::stable_sort(out.begin(), out.end(), better);
  std::stable_sort(others.begin(), others.end(), better);
  std::move(others.begin(), others.end(), std::back_inserter(out));
  return unlike(std::move(out));
}

// The best first placement of all searches.
const Trial& best_first(const Searches& searches) {
  const Trial* best = nullptr;
  for (const auto& search : searches)
    if (best == nullptr || search->others().front().is_better(*best)) best = &search->others().front();
  return *best;
}

// The best by the estimate.
class Best {
 public:
  explicit Best(Search& search, unsigned threads) : search_(search), threads_(threads) {}

  // Estimates trials [begin, end).
  void take(std::vector<Trial>& trials, std::size_t begin, std::size_t end) {
    parallel_for(threads_, end - begin,
                 [&](std::size_t i) { trials[begin + i] = search_.trials().estimated(std::move(trials[begin + i])); });
    for (std::size_t i = begin; i < end; ++i) keep(trials[i]);
  }
  void keep(const Trial& trial) {
    if (!best_ || trial.is_better(*best_)) best_ = trial;
  }
  const Trial& trial() const { return *best_; }

 private:
  Search& search_;
  unsigned threads_;
  std::optional<Trial> best_;
};

// The best of all trials, and of what their epochs make together.
Trial best_estimated(Searches& searches, unsigned threads) {
  Search& search = *searches.front();
  Placement& placement = search.placement();
  EpochPool pool = search.pool();
  for (std::size_t i = 1; i < searches.size(); ++i) pool.add(searches[i]->pool());
  const Trial first_placed = best_first(searches);
  std::vector<Trial> trials = all_trials(searches);
  if (auto combined = search.combined(pool)) trials.insert(trials.begin(), std::move(*combined));
  Best best(search, threads);
  std::size_t estimated = std::min(trials.size(), searches.size() * most_estimates(placement.schedule().size()));
  best.take(trials, 0, estimated);
  // What effort 0 would take.
  const auto first = std::find_if(trials.begin(), trials.end(), [&](const Trial& t) { return t.choice == first_placed.choice; });
  if (first - trials.begin() >= static_cast<std::ptrdiff_t>(estimated)) best.keep(search.trials().estimated(*first));
  for (std::size_t i = 0; i < estimated; ++i)
    if (!trials[i].fails) pool.correct(placement, search.runs(), trials[i]);
  std::optional<Choice> last;
  for (int i = 0; i < kCombined && !best.trial().fails; ++i) {
    auto choice = pool.best(placement);
    if (!choice || *choice == best.trial().choice || choice == last) break;
    last = *choice;
    const Trial trial = search.trials().estimated(search.trials().summed_up(std::move(*choice), {}));
    best.keep(trial);
    if (trial.fails) break;
    pool.correct(placement, search.runs(), trial);
  }
  for (; best.trial().fails && estimated < trials.size(); ++estimated) best.take(trials, estimated, estimated + 1);
  if (best.trial().fails)
    if (auto plain = search.first_buildable()) best.keep(*plain);
  return best.trial();
}

// The best placement of the plans; where it cannot be built, the next.
Trial first_estimated(Searches& searches) {
  Search& search = *searches.front();
  std::vector<Trial> trials = all_trials(searches);
  Best best(search, 1);
  for (std::size_t i = 0; i < trials.size() && (i == 0 || best.trial().fails); ++i) best.take(trials, i, i + 1);
  if (best.trial().fails)
    if (auto plain = search.first_buildable()) best.keep(*plain);
  return best.trial();
}

// The plan with other models by these rules, where that is as fast.
std::optional<Trial> evened(Search& search, const Trial& trial, double most_cycles, const EvenRules& rules) {
  auto choice = with_even_channels(search.placement(), search.links(), trial.choice, rules);
  if (!choice) return std::nullopt;
  Trial even = search.trials().estimated(search.trials().summed_up(std::move(*choice), {}));
  if (even.fails || even.cycles > most_cycles) return std::nullopt;
  return even;
}

// With channels of DRAM that have more alike to move: all ops at once, or one kind after the other, and what remains by slower models.
Trial evened(Search& search, Trial trial) {
  const double most = kAsFast * trial.cycles;
  for (double slower : {1.0, kSlowerModel}) {
    const std::set<std::size_t> kinds = uneven_kinds(search.placement(), search.links(), trial.choice);
    if (kinds.empty()) break;
    if (auto even = evened(search, trial, most, {.slower = slower})) {
      trial = std::move(*even);
      continue;
    }
    std::size_t tried = 0;
    for (std::size_t kind : kinds) {
      if (kinds.size() == 1 || ++tried > kMaxOpKinds) break;
      if (auto even = evened(search, trial, most, {.slower = slower, .kind = kind})) trial = std::move(*even);
    }
  }
  return trial;
}

// Every op on as few cores as it can have, even if that takes an epoch more: of small models few plans are better.
std::optional<Choice> on_fewest_cores(Placement& placement) {
  if (!placement.schedule().empty()) placement.rewind(placement.schedule().front());
  const auto rank = [](const OpModel& m) { return std::tuple(m.cores(), -std::popcount(m.resident), m.kernel_cycles); };
  for (OpId op : placement.schedule())
    if (!placement.place_best(
            op, [&](const OpModel& a, const OpModel& b) { return rank(a) < rank(b); },
            [](const OpModel& a, const OpModel& b) { return a.cores() < b.cores(); }))
      return std::nullopt;
  auto choice = placement.choice();
  return choice ? std::optional(std::move(*choice)) : std::nullopt;
}

// The searches of a budget that found anything. `failure`: why none did.
Searches searched(const Placement& empty, const Estimator& estimator, const RelaxedChip& chip, double budget, bool improve,
                  Failure& failure) {
  Searches searches;
  for (PairCost pairs : {PairCost::buffers, PairCost::transfers}) {
    searches.push_back(std::make_unique<Search>(empty, estimator, pairs, chip, budget));
    if (!searches.back()->trials().estimates()) break;
  }
  std::vector<Failure> failures(searches.size());
  parallel_for(empty.space().threads, searches.size(), [&](std::size_t i) {
    if (auto done = searches[i]->place_first(); !done) {
      failures[i] = std::move(done).failure();
    } else if (improve) {
      searches[i]->improve();
    }
  });
  for (std::size_t i = searches.size(); i-- > 0;) {
    if (failures[i].empty()) continue;
    failure = std::move(failures[i]);
    searches.erase(searches.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return searches;
}

}  // namespace

Result<Choice> spread(const Placement& empty, const Estimator& estimator, const SpreadOptions& options) {
  RelaxedChip chip;
  chip.inputs_per_epoch = options.inputs_per_epoch > 0 ? options.inputs_per_epoch : static_cast<double>(empty.space().problem->microbatch);
  chip.cycles_per_epoch = cost::TransferModel(empty.space().device()).full_epoch_change();
  std::optional<Trial> best;
  Failure failure;
  Searches searches;
  for (std::int32_t effort = std::min(empty.space().effort, 1); effort <= empty.space().effort; ++effort) {
    Searches larger = searched(empty, estimator, chip, kBudgets[effort], effort > 0, failure);
    if (larger.empty()) break;
    searches = std::move(larger);
    if (!searches.front()->trials().estimates()) {
      std::vector<Trial> trials = all_trials(searches);
      return std::move(
          std::min_element(trials.begin(), trials.end(), [](const Trial& a, const Trial& b) { return a.is_better(b); })->choice);
    }
    Trial found = effort > 0 ? best_estimated(searches, empty.space().threads) : first_estimated(searches);
    if (effort > 0 && !found.fails) found = evened(*searches.front(), std::move(found));
    if (!best || found.is_better(*best)) best = std::move(found);
  }
  if (!best) return failure;
  if (empty.space().effort > 0) {
    Search& search = *searches.front();
    if (auto choice = on_fewest_cores(search.placement()))
      if (Trial trial = search.trials().estimated(search.trials().summed_up(std::move(*choice), {})); trial.is_better(*best))
        best = std::move(trial);
  }
  const bool tries_all =
      empty.space().effort > 0 && empty.schedule().size() <= (empty.space().effort > 1 ? kMediumProblemOps : kSmallProblemOps);
  if (best->fails || !tries_all) return std::move(best->choice);
  const double cycles = std::accumulate(best->epochs.begin(), best->epochs.end(), 0.0);
  Search& search = *searches.front();
  auto better =
      best_of_all(search.placement(), estimator, search.links(), cycles, empty.space().effort > 1 ? TryAllBudget{} : kSmallBudget);
  return std::move(better ? *better : best->choice);
}

}  // namespace buda::balance
