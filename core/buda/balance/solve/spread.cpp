// Searches beside each other, and the best of what they find.
#include <buda/balance/solve/spread.hpp>

#include <buda/balance/solve/even_writes.hpp>
#include <buda/balance/solve/search.hpp>
#include <buda/balance/solve/try_all.hpp>
#include <buda/base/parallel.hpp>

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace buda::balance {
namespace {

// Plans put together from epochs whose estimates are known.
constexpr int kCombined = 3;
// By how much a plan may take longer whose channels of DRAM have more alike to move: less than the estimate is sure of.
constexpr double kAsFast = 1.002;
// Problems of which all plans are tried, within a budget of a tenth of a second.
constexpr std::size_t kFewOps = 12;
constexpr TryAllBudget kSmallBudget{20'000, 100};

using Searches = std::vector<std::unique_ptr<Search>>;

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
  return out;
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
  PolicyContext& context = search.context();
  EpochPool pool = search.pool();
  for (std::size_t i = 1; i < searches.size(); ++i) pool.add(searches[i]->pool());
  std::vector<Trial> trials = all_trials(searches);
  if (auto combined = search.combined(pool)) trials.insert(trials.begin(), std::move(*combined));
  Best best(search, threads);
  std::size_t estimated = std::min(trials.size(), searches.size() * most_estimates(context.schedule().size()));
  best.take(trials, 0, estimated);
  for (std::size_t i = 0; i < estimated; ++i)
    if (!trials[i].fails) pool.correct(context, trials[i]);
  for (int i = 0; i < kCombined && !best.trial().fails; ++i) {
    auto choice = pool.best(context);
    if (!choice || *choice == best.trial().choice) break;
    const Trial trial = search.trials().estimated(search.trials().summed_up(std::move(*choice), {}));
    best.keep(trial);
    if (trial.fails) break;
    pool.correct(context, trial);
  }
  for (; best.trial().fails && estimated < trials.size(); ++estimated) best.take(trials, estimated, estimated + 1);
  if (best.trial().fails)
    if (auto plain = search.first_buildable()) best.keep(*plain);
  return best.trial();
}

// With channels of DRAM that have more alike to move, where that is as fast.
Trial evened(Search& search, Trial trial) {
  auto choice = with_even_writes(search.context(), search.links(), trial.choice);
  if (!choice) return trial;
  Trial even = search.trials().estimated(search.trials().summed_up(std::move(*choice), {}));
  return !even.fails && even.cycles <= kAsFast * trial.cycles ? even : trial;
}

}  // namespace

Result<Choice> spread(PolicyContext& context, const SpreadOptions& options) {
  RelaxedChip chip;
  chip.inputs_per_epoch = options.inputs_per_epoch > 0 ? options.inputs_per_epoch : static_cast<double>(context.problem().microbatch);
  chip.cycles_per_epoch = kEpochChangeCycles;
  Searches searches;
  for (PairCost pairs : {PairCost::buffers, PairCost::transfers}) {
    searches.push_back(std::make_unique<Search>(context, pairs, chip));
    if (!searches.back()->trials().estimates()) break;
  }
  std::vector<Failure> failures(searches.size());
  parallel_for(context.threads(), searches.size(), [&](std::size_t i) {
    if (auto done = searches[i]->run(); !done) failures[i] = std::move(done).failure();
  });
  for (std::size_t i = searches.size(); i-- > 0;)
    if (!failures[i].empty() && searches.size() > 1) searches.erase(searches.begin() + static_cast<std::ptrdiff_t>(i));
  if (searches.front()->others().empty()) return std::move(failures.front());
  if (!searches.front()->trials().estimates()) {
    std::vector<Trial> trials = all_trials(searches);
    return std::move(std::min_element(trials.begin(), trials.end(), [](const Trial& a, const Trial& b) { return a.is_better(b); })->choice);
  }
  Trial best = best_estimated(searches, context.threads());
  if (!best.fails) best = evened(*searches.front(), std::move(best));
  if (best.fails || (options.effort == 1 && context.schedule().size() > kFewOps)) return std::move(best.choice);
  const double cycles =
      std::accumulate(best.epochs.begin(), best.epochs.end(), kEpochChangeCycles * static_cast<double>(best.epochs.size()));
  Search& search = *searches.front();
  auto better = best_of_all(search.context(), search.links(), cycles, options.effort > 1 ? TryAllBudget{} : kSmallBudget);
  return std::move(better ? *better : best.choice);
}

}  // namespace buda::balance
