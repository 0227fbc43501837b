// SPDX-License-Identifier: Apache-2.0
// What is known of the epochs that have been executed: their times, so that an execution that begins like an earlier one is not simulated
// again, and their summaries.
#pragma once

#include <buda/perf/summary.hpp>
#include <buda/sim/epoch/epoch_run.hpp>
#include <buda/sim/record/run_record.hpp>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace buda::timed {

// How an execution of an epoch begins.
struct Beginning {
  std::size_t epoch = 0;
  sim::EntriesByQueue entries;          // in its queues
  std::vector<sim::Ticks> core_starts;  // when cores have their programs
  friend auto operator<=>(const Beginning&, const Beginning&) = default;
};

// How it ended.
struct Ending {
  sim::Ticks time = 0;
  std::vector<sim::LastEvent> last;  // by core
  sim::RunRecord record;             // empty when nobody listens
};

class EpochTimes {
 public:
  // Of an execution that began so; null where there was none.
  const Ending* known(const Beginning& beginning) const;
  // `alone`: the host has changed nothing since it began; other executions tell nothing of others.
  void learn(const Beginning& beginning, bool alone, Ending ending, perf::EpochSummary summary);
  // From now on no execution is known, so that the next ones are simulated again.
  void forget_endings() { endings_.clear(); }
  // An execution of an epoch that is known has taken so long, of which `switching` until its last core had its program.
  void add(std::size_t epoch, sim::Ticks time, sim::Ticks switching);

  // By the order of their first execution.
  const std::vector<perf::EpochSummary>& summaries() const { return summaries_; }
  std::int64_t executions() const { return executions_; }

 private:
  std::map<Beginning, Ending> endings_;
  std::map<std::size_t, std::size_t> index_;  // from epoch to summary
  std::vector<perf::EpochSummary> summaries_;
  std::int64_t executions_ = 0;
};

}  // namespace buda::timed
