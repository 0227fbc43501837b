// Gathering the graphs of a group.
#include "schedule.hpp"

#include <algorithm>

namespace buda::golden {

Result<void> Schedule::execute(const netlist::Execution& execution) {
  const GraphPlan& plan = plans_.graphs.at(execution.graph);
  // Graphs of other groups may come in between; what shares a queue with them keeps its turn.
  const bool ends_waiting = std::any_of(pending_.begin(), pending_.end(), [&](const netlist::Execution& waiting) {
    const GraphPlan& other = plans_.graphs.at(waiting.graph);
    return waiting.graph == execution.graph || (other.group != plan.group && share_a_queue(other, plan));
  });
  if (ends_waiting) finish();
  pending_.push_back(execution);
  const auto there = std::count_if(pending_.begin(), pending_.end(),
                                   [&](const auto& waiting) { return plans_.graphs.at(waiting.graph).group == plan.group; });
  if (static_cast<std::size_t>(there) == plans_.groups[plan.group].graphs.size()) execute_group(plan.group);
  return success();
}

Result<void> Schedule::allocate(std::size_t queue) {
  finish();
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

void Schedule::finish() {
  while (!pending_.empty()) execute_group(plans_.graphs.at(pending_.front().graph).group);
}

void Schedule::clear() {
  actions.clear();
  pending_.clear();
  moved_.clear();
}

bool Schedule::share_a_queue(const GraphPlan& a, const GraphPlan& b) const {
  auto touches = [](const GraphPlan& graph, std::size_t queue) {
    return std::binary_search(graph.queues.begin(), graph.queues.end(), queue) ||
           std::any_of(graph.ops.begin(), graph.ops.end(), [&](const OpPlan& op) {
             return std::any_of(op.writes.begin(), op.writes.end(), [&](const WritePlan& w) { return w.queue == queue; });
           });
  };
  for (std::size_t q = 0; q < netlist_.queues.size(); ++q)
    if (touches(a, q) && touches(b, q)) return true;
  return false;
}

// Others go on waiting, and with them the pointers that were moved.
void Schedule::execute_group(std::size_t group) {
  ExecuteGraphs now;
  std::vector<netlist::Execution> others;
  for (auto& waiting : pending_) (plans_.graphs.at(waiting.graph).group == group ? now.executions : others).push_back(std::move(waiting));
  pending_ = std::move(others);
  actions.emplace_back(std::move(now));
  if (!pending_.empty()) return;
  for (const MoveReadPointer& move : moved_) actions.emplace_back(move);
  moved_.clear();
}

}  // namespace buda::golden
