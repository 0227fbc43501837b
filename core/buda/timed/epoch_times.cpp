// SPDX-License-Identifier: Apache-2.0
// Adding up executions.
#include <buda/timed/epoch_times.hpp>

#include <utility>

namespace buda::timed {

const Ending* EpochTimes::known(const Beginning& beginning) const {
  auto found = endings_.find(beginning);
  return found == endings_.end() ? nullptr : &found->second;
}

void EpochTimes::learn(const Beginning& beginning, bool alone, Ending ending, perf::EpochSummary summary) {
  const std::size_t epoch = beginning.epoch;
  if (alone) endings_[beginning] = std::move(ending);
  auto [it, fresh] = index_.try_emplace(epoch, summaries_.size());
  summary.executions = 0;
  summary.total = {};
  if (fresh) {
    summaries_.push_back(std::move(summary));
    return;
  }
  perf::EpochSummary& known = summaries_[it->second];
  summary.executions = known.executions;
  summary.total = known.total;
  summary.switching = known.switching;
  known = std::move(summary);
}

void EpochTimes::add(std::size_t epoch, sim::Ticks time, sim::Ticks switching) {
  perf::EpochSummary& summary = summaries_[index_.at(epoch)];
  ++summary.executions;
  summary.total.ticks += time;
  summary.switching.ticks += switching;
  ++executions_;
}

}  // namespace buda::timed
