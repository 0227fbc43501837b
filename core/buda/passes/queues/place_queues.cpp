// SPDX-License-Identifier: Apache-2.0
// place-queues: ops that stand for queues (insert-buffers) become constraints on the edges after them, which the balancer meets.
//
// before                                          after
//   a.queue = nop(a) #buffering=queue               y = add(a, b) #queue_before=0
//   y = add(a.queue, b)
//
// A replacement nop that got a tensor manipulation on its edge (a transpose that its user could not have) stays, and the queue follows it. What comes
// from an input, a parameter or a constant lies in a queue already. After the passes that reorder inputs, since requests count them.
#include <buda/passes/pipeline/standard_passes.hpp>
#include <buda/passes/queues/insert_buffers.hpp>

#include <buda/base/text.hpp>
#include <buda/graph/tags/constraint_tags.hpp>

namespace buda::passes {
namespace {

using graph::Graph;
using graph::Node;
using graph::NodeId;

bool is_stand_in(const Node& n) {
  auto tag = n.tags.find(kBuffering);
  return tag != n.tags.end() && tag->second == "queue" && n.op() == "nop" && n.inputs().size() == 1 && n.attrs.empty();
}

Result<PassReport> place_queues(Graph& graph, PassContext&) {
  PassReport report;
  std::vector<NodeId> stand_ins;
  for (NodeId id : graph.ids())
    if (is_stand_in(graph.node(id))) stand_ins.push_back(id);
  for (NodeId id : stand_ins) {
    const graph::Edge edge = graph.node(id).inputs()[0];
    const bool stays = !edge.tms.empty();
    graph::ValueRef source = stays ? graph::ValueRef(id) : edge.source;
    bool used_outside = false;
    for (const graph::Use& use : graph.users(id)) {
      Node& user = graph.node(use.node);
      used_outside = used_outside || !user.is_op();
      if (!user.is_op()) continue;
      if (graph.node(source.node).is_op()) graph::add_constraint(user, graph::kQueueBefore, cat(use.input));
      graph::Edge following = user.inputs()[use.input];
      following.source = source;
      graph.set_input(use.node, use.input, std::move(following));
    }
    graph.node(id).tags.erase(kBuffering);
    if (!stays && !used_outside) graph.erase(id);
    ++report.rewrites;
  }
  return report;
}

}  // namespace

const Pass kPlaceQueues = {.name = "place-queues",
                           .summary = "replace ops that represent queues by constraints on edges",
                           .level = graph::Level::device,
                           .run = place_queues};

}  // namespace buda::passes
