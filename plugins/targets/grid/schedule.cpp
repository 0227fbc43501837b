// Gathering the graphs of an epoch.
#include "schedule.hpp"

#include <buda/base/text.hpp>

#include <utility>

namespace buda::grid {
namespace {

Diagnostic graph_is_missing(std::size_t epoch) {
  return input_error("SM005", {}, cat("the program does not execute the graphs of temporal epoch ", epoch, " one after the other"));
}

}  // namespace

Schedule::Schedule(const std::vector<runtime::EpochStreams>& epochs) : epochs_(epochs) {
  for (std::size_t e = 0; e < epochs.size(); ++e)
    for (std::size_t graph : epochs[e].graphs) {
      if (epoch_of_graph_.size() <= graph) epoch_of_graph_.resize(graph + 1, epochs.size());
      epoch_of_graph_[graph] = e;
    }
}

Result<void> Schedule::execute(const netlist::Execution& execution) {
  const std::size_t epoch = execution.graph < epoch_of_graph_.size() ? epoch_of_graph_[execution.graph] : epochs_.size();
  if (epoch == epochs_.size()) return internal_error("a program executes a graph that is in no temporal epoch");
  if (!pending_.executions.empty() && pending_.epoch != epoch) return graph_is_missing(pending_.epoch);
  pending_.epoch = epoch;
  pending_.executions.push_back(execution);
  if (pending_.executions.size() < epochs_[epoch].graphs.size()) return success();
  actions.emplace_back(std::exchange(pending_, {}));
  for (Action& action : moved_) actions.push_back(action);
  moved_.clear();
  return success();
}

Result<void> Schedule::allocate(std::size_t queue) {
  BUDA_TRY(finish());
  actions.emplace_back(ClearQueue{queue});
  return success();
}

void Schedule::read_pointer_moved(std::size_t queue, std::int32_t value) {
  if (pending_.executions.empty()) {
    actions.emplace_back(MoveReadPointer{queue, value});
  } else {
    moved_.emplace_back(MoveReadPointer{queue, value});
  }
}

Result<void> Schedule::finish() const {
  if (!pending_.executions.empty()) return graph_is_missing(pending_.epoch);
  return success();
}

void Schedule::clear() {
  actions.clear();
  pending_ = {};
  moved_.clear();
}

}  // namespace buda::grid
