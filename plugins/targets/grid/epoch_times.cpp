// Adding up executions.
#include "epoch_times.hpp"

namespace buda::grid {

std::optional<sim::Ticks> EpochTimes::known(std::size_t epoch, const sim::EntriesByQueue& entries) const {
  auto found = times_.find({epoch, entries});
  if (found == times_.end()) return std::nullopt;
  return found->second;
}

void EpochTimes::learn(std::size_t epoch, const sim::EntriesByQueue* begun, perf::EpochSummary summary) {
  if (begun != nullptr) times_[{epoch, *begun}] = summary.time.ticks;
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
  known = std::move(summary);
}

void EpochTimes::add(std::size_t epoch, sim::Ticks time) {
  perf::EpochSummary& summary = summaries_[index_.at(epoch)];
  ++summary.executions;
  summary.total.ticks += time;
  ++executions_;
}

}  // namespace buda::grid
