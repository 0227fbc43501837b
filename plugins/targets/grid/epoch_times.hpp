// What is known of the epochs that have been executed: their times, so that an execution that begins like an earlier one is not simulated
// again, and their summaries.
#pragma once

#include <buda/perf/summary.hpp>
#include <buda/sim/epoch_run.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace buda::grid {

class EpochTimes {
 public:
  // Of an execution that began with these entries in its queues.
  std::optional<sim::Ticks> known(std::size_t epoch, const sim::EntriesByQueue& entries) const;
  // `begun`: with what it began, where the host has changed nothing since; null otherwise, for an execution that tells nothing of others.
  void learn(std::size_t epoch, const sim::EntriesByQueue* begun, perf::EpochSummary summary);
  // An execution of an epoch that is known has taken so long.
  void add(std::size_t epoch, sim::Ticks time);

  // By the order of their first execution.
  const std::vector<perf::EpochSummary>& summaries() const { return summaries_; }
  std::int64_t executions() const { return executions_; }

 private:
  std::map<std::pair<std::size_t, sim::EntriesByQueue>, sim::Ticks> times_;
  std::map<std::size_t, std::size_t> index_;  // from epoch to summary
  std::vector<perf::EpochSummary> summaries_;
  std::int64_t executions_ = 0;
};

}  // namespace buda::grid
