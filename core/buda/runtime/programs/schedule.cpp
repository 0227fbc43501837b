// SPDX-License-Identifier: Apache-2.0
// Gathering the graphs of a group.
#include <buda/runtime/programs/schedule.hpp>

#include <algorithm>
#include <utility>

namespace buda::runtime {

Result<void> Schedule::execute(const netlist::Execution& execution) {
  const std::size_t group = grouping_.group_of(execution.graph);
  // Graphs of other groups may come in between where the rule allows it.
  const bool ends_waiting = std::any_of(pending_.begin(), pending_.end(), [&](const netlist::Execution& waiting) {
    return waiting.graph == execution.graph ||
           (grouping_.group_of(waiting.graph) != group && grouping_.has_to_precede(waiting.graph, execution.graph));
  });
  if (ends_waiting) BUDA_TRY(finish());
  pending_.push_back(execution);
  const auto there = std::count_if(pending_.begin(), pending_.end(),
                                   [&](const netlist::Execution& waiting) { return grouping_.group_of(waiting.graph) == group; });
  if (static_cast<std::size_t>(there) == grouping_.graphs_in(group)) execute_group(group);
  return success();
}

Result<void> Schedule::allocate(std::size_t queue) {
  BUDA_TRY(finish());
  actions.emplace_back(ClearQueue{queue});
  return success();
}

void Schedule::read_pointer_moved(std::size_t queue, std::int32_t value) {
  if (netlist_.queues[queue].kind == netlist::QueueKind::ram) return;
  if (pending_.empty()) {
    actions.emplace_back(MoveReadPointer{queue, value});
  } else {
    moved_.push_back({queue, value});
  }
}

Result<void> Schedule::finish() {
  while (!pending_.empty()) {
    const std::size_t group = grouping_.group_of(pending_.front().graph);
    BUDA_TRY(grouping_.may_execute_in_part(group));
    execute_group(group);
  }
  return success();
}

void Schedule::clear() {
  actions.clear();
  pending_.clear();
  moved_.clear();
}

// Others go on waiting, and with them the pointers that were moved.
void Schedule::execute_group(std::size_t group) {
  ExecuteGraphs now;
  std::vector<netlist::Execution> others;
  for (auto& waiting : pending_) (grouping_.group_of(waiting.graph) == group ? now.executions : others).push_back(std::move(waiting));
  pending_ = std::move(others);
  actions.emplace_back(std::move(now));
  if (!pending_.empty()) return;
  for (const MoveReadPointer& move : moved_) actions.emplace_back(move);
  moved_.clear();
}

}  // namespace buda::runtime
