// A search for a plan, from first placements to improved ones.
#pragma once

#include <buda/balance/solve/epoch_pool.hpp>
#include <buda/balance/solve/first_trials.hpp>
#include <buda/balance/solve/link_loads.hpp>
#include <buda/balance/solve/policy.hpp>
#include <buda/balance/solve/relaxed_epochs.hpp>
#include <buda/balance/solve/tighten_epochs.hpp>
#include <buda/balance/solve/trials.hpp>
#include <buda/diag/result.hpp>

#include <optional>
#include <vector>

namespace buda::balance {

// Whatever it remembers is its own, so that several run beside each other. Searches differ in what they count between two ops.
class Search {
 public:
  Search(const PolicyContext& parent, PairCost pairs, const RelaxedChip& chip);

  // Places the plans, improves the best placements epoch by epoch, and then what is best put together from the epochs of all of them.
  // Fails where no plan can be placed.
  Result<void> run();

  // Those that were improved, in the order in which they were, and the other placements, best first.
  std::vector<Trial>& improved() { return improved_; }
  std::vector<Trial>& others() { return others_; }
  const EpochPool& pool() const { return pool_; }
  // What is best put together from the epochs of a pool; nothing where they do not go together.
  std::optional<Trial> combined(EpochPool& pool);
  // The first plan that can be built without any care for links.
  std::optional<Trial> first_buildable() { return balance::first_buildable(placers_.back(), trials_, ops_, chip_); }
  const Trials& trials() const { return trials_; }
  LinkModel& links() { return links_; }
  PolicyContext& context() { return context_; }

 private:
  PolicyContext context_;
  RelaxedChip chip_;
  LinkModel links_;
  Trials trials_;
  std::vector<RelaxedOp> ops_;
  std::vector<PacedPlacer> placers_;
  std::vector<Trial> improved_, others_;
  EpochPool pool_;
};

}  // namespace buda::balance
