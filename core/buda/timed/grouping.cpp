// SPDX-License-Identifier: Apache-2.0
// Epochs by graph.
#include <buda/timed/grouping.hpp>

#include <buda/base/text.hpp>

namespace buda::timed {

TemporalEpochs::TemporalEpochs(const std::vector<runtime::EpochStreams>& epochs) : epochs_(epochs) {
  for (std::size_t e = 0; e < epochs.size(); ++e)
    for (std::size_t graph : epochs[e].graphs) {
      if (epoch_of_graph_.size() <= graph) epoch_of_graph_.resize(graph + 1, epochs.size());
      epoch_of_graph_[graph] = e;
    }
}

std::size_t TemporalEpochs::group_of(std::size_t graph) const {
  return graph < epoch_of_graph_.size() ? epoch_of_graph_[graph] : epochs_.size();
}

Result<void> TemporalEpochs::may_execute_in_part(std::size_t group) const {
  return input_error("SM005", {}, cat("the program does not execute the graphs of temporal epoch ", group, " one after the other"));
}

}  // namespace buda::timed
