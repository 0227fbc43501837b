// SPDX-License-Identifier: Apache-2.0
// choose-saved: lets the backward phase of a training step compute again what need not be kept for it.
//
// before                                                  after, where formulas may be repeated
//   y = matmul(x, w)                                        y = matmul(x, w)
//   a = gelu(y)                                             a = gelu(y)
//   z = matmul(a, v)                                        z = matmul(a, v)
//   da = gelu_derivative(y)           phase=backward        da = gelu_derivative(y)            phase=backward
//   dv = matmul(transpose(a), g)      phase=backward        a.again = gelu(y)                  phase=backward
//                                                           dv = matmul(transpose(a.again), g) phase=backward
//
// The values that are kept are a minimum cut between the forward and the backward phase (saved_values.cpp).
#include <buda/base/text.hpp>
#include <buda/graph/editor.hpp>
#include <buda/graph/tags/training.hpp>
#include <buda/passes/pipeline/standard_passes.hpp>
#include <buda/passes/saved/saved_values.hpp>

#include <algorithm>
#include <cstdio>
#include <map>
#include <utility>

namespace buda::passes {
namespace {

using graph::Edge;
using graph::Graph;
using graph::NodeId;
using graph::ValueRef;

// The repeated ops, made in the order in which the backward phase comes to need them.
class Repeater {
 public:
  Repeater(Graph& graph, const std::vector<ForwardValue>& values, const SavedValues& saved) : g_(graph) {
    for (std::size_t at = 0; at < values.size(); ++at)
      if (saved.is_repeated[at]) again_.emplace(values[at].value, NodeId());
  }

  std::size_t run() {
    for (NodeId id : g_.topological_order())
      if (is_backward(g_.node(id))) read_again(id);
    return made_;
  }

 private:
  void read_again(NodeId user) {
    const std::vector<Edge> inputs = g_.node(user).inputs();
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const auto found = again_.find(inputs[i].source);
      if (found == again_.end()) continue;
      if (!found->second.valid()) repeat(inputs[i].source);
      g_.set_input(user, static_cast<std::uint32_t>(i), Edge(again_[inputs[i].source], inputs[i].tms));
    }
  }

  // Operands first, without recursion.
  void repeat(ValueRef root) {
    std::vector<ValueRef> pending{root};
    while (!pending.empty()) {
      const ValueRef value = pending.back();
      bool is_ready = true;
      for (const Edge& edge : g_.node(value.node).inputs())
        if (const auto found = again_.find(edge.source); found != again_.end() && !found->second.valid()) {
          pending.push_back(edge.source);
          is_ready = false;
        }
      if (!is_ready) continue;
      pending.pop_back();
      if (!again_[value].valid()) again_[value] = copy(value.node);
    }
  }

  NodeId copy(NodeId id) {
    std::vector<Edge> inputs = g_.node(id).inputs();
    for (Edge& edge : inputs)
      if (const auto found = again_.find(edge.source); found != again_.end()) edge.source = found->second;
    graph::GraphEditor editor(g_, id);
    const NodeId made = editor.add("again", g_.node(id).op(), std::move(inputs), g_.node(id).outputs, g_.node(id).attrs);
    auto& tags = g_.node(made).tags;
    tags[graph::kPhase] = graph::kPhaseBackward;
    // By which it stays apart from the first.
    tags[kRecomputed] = "";
    ++made_;
    return made;
  }

  Graph& g_;
  std::map<ValueRef, NodeId> again_;
  std::size_t made_ = 0;
};

std::string megabytes(std::int64_t bytes) {
  constexpr double kMegabyte = 1e6;
  std::string out(32, '\0');
  out.resize(static_cast<std::size_t>(std::snprintf(out.data(), out.size(), "%.3g", static_cast<double>(bytes) / kMegabyte)));
  return out;
}

Result<PassReport> choose_saved(Graph& graph, PassContext& context) {
  PassReport report;
  const std::vector<ForwardValue> values = forward_values(graph, context);
  const std::int64_t all = all_saved(values).bytes;
  if (all == 0) return report;
  const SavedValues saved = choose_saved_values(values, context.saved);
  report.rewrites = Repeater(graph, values, saved).run();
  report.note =
      cat("the backward phase reads ", megabytes(saved.bytes), " of ", megabytes(all), " MB, and repeats ", report.rewrites, " ops");
  if (const auto limit = context.saved.limit; limit && saved.bytes > *limit)
    context.host.report(warning("PA094", {},
                                cat("a training step keeps ", megabytes(saved.bytes), " MB for its backward phase, and ", megabytes(*limit),
                                    " are asked for: no more can be repeated")));
  return report;
}

}  // namespace

const Pass kChooseSaved = {.name = "choose-saved",
                           .summary = "let the backward phase of a training step compute again what need not be kept for it",
                           .level = graph::Level::tensor,
                           .run = choose_saved};

}  // namespace buda::passes
