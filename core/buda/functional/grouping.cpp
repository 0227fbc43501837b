// SPDX-License-Identifier: Apache-2.0
// Which graphs use the same queues.
#include <buda/functional/grouping.hpp>

#include <algorithm>

namespace buda::functional {
namespace {

bool touches(const arith::GraphPlan& graph, std::size_t queue) {
  return std::binary_search(graph.queues.begin(), graph.queues.end(), queue) ||
         std::any_of(graph.ops.begin(), graph.ops.end(), [&](const arith::OpPlan& op) {
           return std::any_of(op.writes.begin(), op.writes.end(), [&](const arith::WritePlan& w) { return w.queue == queue; });
         });
}

}  // namespace

bool FeedingGraphs::has_to_precede(std::size_t waiting, std::size_t next) const {
  const arith::GraphPlan &a = plans_.graphs.at(waiting), &b = plans_.graphs.at(next);
  for (std::size_t q = 0; q < netlist_.queues.size(); ++q)
    if (touches(a, q) && touches(b, q)) return true;
  return false;
}

}  // namespace buda::functional
