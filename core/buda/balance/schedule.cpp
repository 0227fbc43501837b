// Breadth-first and topological schedules.
#include <buda/balance/schedule.hpp>

#include <deque>

namespace buda::balance {
namespace {

using graph::Graph;
using graph::NodeId;

// A queue is seeded with the model's inputs. A node taken from it is emitted after the ops that it still waits for, depth first in the
// order of its inputs, and then its users join the queue. So ops stand close to what they read, and branches of a fork advance together.
class BreadthFirst {
 public:
  explicit BreadthFirst(const Graph& graph) : graph_(graph), state_(graph.id_bound(), State::fresh) {}

  std::vector<NodeId> run() {
    for (NodeId id : graph_.inputs()) queue_users(id);
    drain();
    // What no input reaches: computed from parameters and constants alone.
    for (NodeId id : graph_.topological_order()) {
      visit(id);
      drain();
    }
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
      const auto& inputs = graph_.node(id).inputs();
      if (next < inputs.size()) {
        NodeId producer = inputs[next++].source.node;
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

  const Graph& graph_;
  std::vector<State> state_;
  std::deque<NodeId> queue_;
  std::vector<NodeId> order_;
};

}  // namespace

std::vector<NodeId> schedule(const Graph& graph, SchedulePolicy policy) {
  if (policy == SchedulePolicy::module_inputs_bfs) return BreadthFirst(graph).run();
  std::vector<NodeId> out;
  for (NodeId id : graph.topological_order())
    if (graph.node(id).is_op()) out.push_back(id);
  return out;
}

}  // namespace buda::balance
