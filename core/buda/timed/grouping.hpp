// SPDX-License-Identifier: Apache-2.0
// Which graphs run together: those of a temporal epoch, one per chip.
#pragma once

#include <buda/runtime/program.hpp>
#include <buda/runtime/programs/schedule.hpp>

#include <cstddef>
#include <vector>

namespace buda::timed {

class TemporalEpochs final : public runtime::Grouping {
 public:
  // The epochs outlive it. Groups are indices of runtime::Program::epochs.
  explicit TemporalEpochs(const std::vector<runtime::EpochStreams>& epochs);

  // Their number for a graph that is in no epoch.
  std::size_t group_of(std::size_t graph) const override;
  std::size_t graphs_in(std::size_t group) const override { return group < epochs_.size() ? epochs_[group].graphs.size() : 1; }
  bool has_to_precede(std::size_t, std::size_t) const override { return true; }
  // SM005: stream programs are those of all graphs of an epoch.
  Result<void> may_execute_in_part(std::size_t group) const override;

 private:
  const std::vector<runtime::EpochStreams>& epochs_;
  std::vector<std::size_t> epoch_of_graph_;
};

}  // namespace buda::timed
