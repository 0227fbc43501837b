// SPDX-License-Identifier: Apache-2.0
// Breadth-first and topological schedules.
#include <buda/balance/problem/schedule.hpp>

#include <buda/graph/graph.hpp>

#include <deque>

namespace buda::balance {
namespace {

using graph::Graph;
using graph::NodeId;

using WaitsFor = std::vector<std::vector<NodeId>>;

class Scheduler {
 public:
  Scheduler(const Graph& graph, const WaitsFor& waits_for) : graph_(graph), waits_for_(waits_for), state_(graph.id_bound(), State::fresh) {}

  // A queue is seeded with the model's inputs. A node taken from it is emitted after the ops that it still waits for, depth first in the
  // order of its inputs, and then its users join the queue. So ops stand close to what they read, and branches of a fork advance together.
  std::vector<NodeId> breadth_first() {
    for (NodeId id : graph_.inputs()) queue_users(id);
    drain();
    // What no input reaches: computed from parameters and constants alone.
    for (NodeId id : graph_.topological_order()) {
      visit(id);
      drain();
    }
    return std::move(order_);
  }

  std::vector<NodeId> topological() {
    for (NodeId id : graph_.topological_order()) visit(id);
    return std::move(order_);
  }

 private:
  enum class State : std::uint8_t { fresh, open, done };

  void drain() {
    while (!queue_.empty()) {
      NodeId id = queue_.front();
      queue_.pop_front();
      visit(id);
    }
  }

  void queue_users(NodeId id) {
    for (const auto& use : graph_.users(id))
      if (graph_.node(use.node).is_op()) queue_.push_back(use.node);
  }

  // Depth-first without recursion: models may be deeper than the stack.
  void visit(NodeId root) {
    if (!graph_.node(root).is_op() || state_[root.index()] != State::fresh) return;
    std::vector<std::pair<NodeId, std::size_t>> stack{{root, 0}};
    state_[root.index()] = State::open;
    while (!stack.empty()) {
      auto& [id, next] = stack.back();
      if (next < waits(id)) {
        NodeId producer = wait(id, next++);
        if (!graph_.contains(producer) || !graph_.node(producer).is_op() || state_[producer.index()] != State::fresh) continue;
        state_[producer.index()] = State::open;
        stack.emplace_back(producer, 0);
        continue;
      }
      NodeId finished = id;
      stack.pop_back();
      state_[finished.index()] = State::done;
      order_.push_back(finished);
      queue_users(finished);
    }
  }

  // What a node waits for: its inputs, then the ops that are demanded to come first.
  std::size_t waits(NodeId id) const { return graph_.node(id).inputs().size() + (waits_for_.empty() ? 0 : waits_for_[id.index()].size()); }
  NodeId wait(NodeId id, std::size_t i) const {
    const auto& inputs = graph_.node(id).inputs();
    return i < inputs.size() ? inputs[i].source.node : waits_for_[id.index()][i - inputs.size()];
  }

  const Graph& graph_;
  const WaitsFor& waits_for_;
  std::vector<State> state_;
  std::deque<NodeId> queue_;
  std::vector<NodeId> order_;
};

}  // namespace

std::vector<NodeId> schedule(const Graph& graph, SchedulePolicy policy, const WaitsFor& waits_for) {
  Scheduler scheduler(graph, waits_for);
  return policy == SchedulePolicy::module_inputs_bfs ? scheduler.breadth_first() : scheduler.topological();
}

}  // namespace buda::balance
