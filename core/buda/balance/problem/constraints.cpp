// SPDX-License-Identifier: Apache-2.0
// Orders and breaks.
#include <buda/balance/problem/constraints.hpp>

#include <buda/base/text.hpp>
#include <buda/graph/graph.hpp>
#include <buda/graph/tags/constraint_tags.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

namespace buda::balance {

using graph::Graph;
using graph::NodeId;

Result<std::vector<std::vector<NodeId>>> ops_to_wait_for(const Graph& graph) {
  std::map<std::size_t, std::map<std::size_t, std::vector<NodeId>>> orders;
  for (NodeId id : graph.ids()) {
    if (!graph.node(id).is_op()) continue;
    BUDA_ASSIGN(std::vector<graph::SchedulePlace> places, graph::schedule_places(graph.node(id)));
    for (const auto& at : places) orders[at.order][at.place].push_back(id);
  }
  std::vector<std::vector<NodeId>> out;
  if (orders.empty()) return out;
  out.resize(graph.id_bound());
  for (const auto& [order, places] : orders)
    // A place that no op has any more is passed over: what stood there was computed beforehand.
    for (auto at = places.begin(), next = at; ++next != places.end(); at = next)
      for (NodeId later : next->second)
        for (NodeId earlier : at->second)
          if (earlier != later) out[later.index()].push_back(earlier);
  return out;
}

Result<void> check_orders(const Graph& graph, const std::vector<NodeId>& schedule, const std::vector<std::vector<NodeId>>& waits_for) {
  if (waits_for.empty()) return success();
  std::vector<std::size_t> place(graph.id_bound(), 0);
  for (std::size_t i = 0; i < schedule.size(); ++i) place[schedule[i].index()] = i;
  Failure failure;
  auto contradiction = [&](NodeId at, std::string message) {
    Diagnostic d = input_error("BL041", graph.node(at).loc, std::move(message));
    d.hint = "leave one of the ops out of the order";
    failure.add(std::move(d));
  };
  // Ops that wait for each other were put in some order, against the data or against a constraint.
  for (NodeId op : schedule) {
    const std::string& name = graph.node(op).name();
    for (const graph::Edge& edge : graph.node(op).inputs())
      if (graph.node(edge.source.node).is_op() && place[edge.source.node.index()] > place[op.index()])
        contradiction(op, cat("op '", name, "' would be scheduled before op '", graph.node(edge.source.node).name(),
                              "', whose result it takes: the requested order contradicts the data flow"));
    for (NodeId earlier : waits_for[op.index()])
      if (place[earlier.index()] > place[op.index()])
        contradiction(op, cat("op '", graph.node(earlier).name(), "' cannot be scheduled before op '", name,
                              "' as requested: the data flow or another requested order contradicts it"));
  }
  if (!failure.empty()) return failure;
  return success();
}

std::vector<NodeId> first_of_breaks(const Graph& graph, const std::vector<NodeId>& schedule, std::string_view tag) {
  std::set<std::string_view> met;
  std::vector<NodeId> out;
  for (NodeId id : schedule) {
    bool first = false;
    for (std::string_view line : graph::constraints(graph.node(id), tag)) first = met.insert(line).second || first;
    if (first) out.push_back(id);
  }
  return out;
}

}  // namespace buda::balance
