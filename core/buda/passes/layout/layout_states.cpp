// SPDX-License-Identifier: Apache-2.0
// layout-states: keeps the states of a training step in the order of elements in which the model reads its weights.
//
// before                                                    after
//   w = input : [16, 8, 3, 3]  loopback=w.next                w = input : [16, 8, 3, 3]  loopback=w.next
//   f = reshape(w) : [16, 8, 9]                               f = reshape(w), t = transpose(f) : [9, 8, 16]
//   t = transpose(f) : [9, 8, 16]                             y = conv(x, t)
//   y = conv(x, t)                                            s = multiply(transpose(reshape(g)), rate) : [9, 8, 16]
//   s = multiply(g, rate) : [16, 8, 3, 3]                     n = subtract(t, s) : [9, 8, 16]
//   n = subtract(w, s) : [16, 8, 3, 3]                        w.next = output(reshape(transpose(n)))
//   w.next = output(n)
//
// A tile holds a whole matrix of a weight's last two axes: 128 tiles for these 3x3 kernels, 9 for the matrices of their taps. The movement
// commutes with elementwise updates, gradients come with its inverse, which then cancels, and lowering leaves to the host what stands
// between a state and its output (lower/analysis.hpp). The states of an optimizer beside a weight, and its sum of gradients, follow it.
#include <buda/base/text.hpp>
#include <buda/graph/editor.hpp>
#include <buda/graph/tags/loopback.hpp>
#include <buda/graph/tags/placement.hpp>
#include <buda/graph/tags/training.hpp>
#include <buda/ops/device/device_layout.hpp>
#include <buda/passes/lower/data_movement.hpp>
#include <buda/passes/pipeline/standard_passes.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace buda::passes {
namespace {

using graph::Edge;
using graph::Graph;
using graph::Node;
using graph::NodeId;

using Dims = std::vector<std::int64_t>;

// A reshape or a transpose; of a reshape the shapes before and after count, of a transpose the permutation.
struct Step {
  Shape from, to;
  Dims perm;  // empty: a reshape

  Step inverse() const {
    Step back{to, from, Dims(perm.size())};
    for (std::size_t i = 0; i < perm.size(); ++i) back.perm[static_cast<std::size_t>(perm[i])] = static_cast<std::int64_t>(i);
    return back;
  }
  friend bool operator==(const Step&, const Step&) = default;
};
using Movement = std::vector<Step>;

Movement inverse(const Movement& movement) {
  Movement out;
  for (auto it = movement.rbegin(); it != movement.rend(); ++it) out.push_back(it->inverse());
  return out;
}

std::int64_t tiles(const Shape& shape) {
  const auto tiled = ops::tiled_shape(shape);
  return tiled ? tiled->volume().value_or(0) : 0;
}

constexpr std::int64_t kWorthwhile = 2;

class StateLayouts {
 public:
  StateLayouts(Graph& graph, PassContext& context) : g_(graph), context_(context) {}

  Result<PassReport> run() {
    BUDA_ASSIGN(const auto loops, graph::loopbacks(g_));
    for (const graph::Loopback& l : loops) {
      const Node& n = g_.node(l.input);
      if (!graph::on_host(n) && !graph::training_of(n).empty()) states_.insert(l.input);
    }
    for (NodeId id : std::set<NodeId>(states_))
      if (graph::training_of(g_.node(id)) == graph::kTrainingParameter) lay_out(id);
    return std::move(report_);
  }

 private:
  void lay_out(NodeId weight) {
    const Shape shape = g_.node(weight).outputs[0].shape;
    const auto movement = best_movement(weight);
    if (!movement) return;
    const std::set<NodeId> updates = updates_of(weight, shape);
    if (updates.empty() || !context_.rewrites.allow(kLayoutStates.name, g_.node(weight))) return;
    const Movement back = inverse(*movement);
    std::map<graph::ValueRef, NodeId> moved;
    for (NodeId id : updates) {
      const std::vector<Edge> inputs = g_.node(id).inputs();
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        const Edge& edge = inputs[i];
        if (updates.contains(edge.source.node) || g_.type(edge.source)->shape != shape) continue;
        auto [found, is_new] = moved.emplace(edge.source, NodeId());
        if (is_new) found->second = moved_by(*movement, edge, id);
        g_.set_input(id, static_cast<std::uint32_t>(i), Edge(found->second));
      }
    }
    for (NodeId id : updates) g_.node(id).outputs[0].shape = movement->back().to;
    // A name stands for its value, which is moved back where somebody else reads it.
    for (NodeId id : updates) {
      const std::string name = g_.node(id).name();
      g_.rename(id, g_.fresh_name(cat(name, ".laid_out")));
      std::optional<NodeId> result;
      for (const graph::Use& use : g_.users(id)) {
        if (updates.contains(use.node)) continue;
        if (!result) g_.rename(*(result = moved_by(back, Edge(id), id)), name);
        g_.set_input(use.node, use.input, Edge(*result));
      }
    }
    ++report_.rewrites;
  }

  // The chain of movements with which some use of the weight begins that takes the fewest tiles: fewer than a matrix takes as it is, which
  // edges transpose for nothing. Of more axes up to twice as many are worth what reads and writes them without moving anything.
  std::optional<Movement> best_movement(NodeId weight) const {
    std::optional<Movement> best;
    const Shape& shape = g_.node(weight).outputs[0].shape;
    std::int64_t least = shape.rank() > 2 ? kWorthwhile * tiles(shape) + 1 : tiles(shape);
    std::vector<std::pair<NodeId, Movement>> pending{{weight, {}}};
    while (!pending.empty()) {
      const auto [at, movement] = std::move(pending.back());
      pending.pop_back();
      for (const graph::Use& use : g_.users(at)) {
        const Node& user = g_.node(use.node);
        if (!is_rearrangement(user)) continue;
        Movement longer = movement;
        longer.push_back(step_of(user));
        if (const std::int64_t count = tiles(longer.back().to); count < least && is_read(use.node)) {
          least = count;
          best = longer;
        }
        pending.emplace_back(use.node, std::move(longer));
      }
    }
    return best;
  }

  // By an op that computes.
  bool is_read(NodeId id) const {
    const auto users = g_.users(id);
    return std::any_of(users.begin(), users.end(), [&](const graph::Use& use) { return !is_rearrangement(g_.node(use.node)); });
  }

  Step step_of(const Node& n) const {
    Step out{g_.type(n.inputs()[0].source)->shape, n.outputs[0].shape, {}};
    if (n.op() == "transpose") {
      const auto rank = static_cast<std::int64_t>(out.from.rank());
      for (std::int64_t axis : std::get<Dims>(n.attrs.find("perm")->second)) out.perm.push_back(axis < 0 ? axis + rank : axis);
    }
    return out;
  }

  // Elementwise ops of the update of a weight and of the states beside it, and the sum of its gradient.
  std::set<NodeId> updates_of(NodeId weight, const Shape& shape) const {
    std::set<NodeId> out;
    std::vector<NodeId> pending{weight};
    std::set<NodeId> met{weight};
    while (!pending.empty()) {
      const NodeId at = pending.back();
      pending.pop_back();
      const auto meet = [&](NodeId id) {
        const bool joins = is_update(g_.node(id), shape) || (states_.contains(id) && g_.node(id).outputs[0].shape == shape);
        if (!joins || !met.insert(id).second) return;
        pending.push_back(id);
        if (g_.node(id).is_op()) out.insert(id);
      };
      for (const graph::Use& use : g_.users(at)) meet(use.node);
      for (const Edge& edge : g_.node(at).inputs()) meet(edge.source.node);
    }
    return out;
  }

  bool is_update(const Node& n, const Shape& shape) const {
    static constexpr std::array kFamilies = {std::string_view("eltwise_unary"), std::string_view("eltwise_binary"),
                                             std::string_view("eltwise_math"), std::string_view("activation"),
                                             std::string_view("comparison")};
    const ops::OpDef* def = n.is_op() ? context_.ops->find(graph::Level::tensor, n.op()) : nullptr;
    if (def == nullptr || std::find(kFamilies.begin(), kFamilies.end(), def->family) == kFamilies.end()) return false;
    if ((!graph::is_of_optimizer(n) && !graph::adds_up_gradients(n)) || n.outputs.size() != 1 || n.outputs[0].shape != shape) return false;
    return std::all_of(n.inputs().begin(), n.inputs().end(), [&](const Edge& edge) {
      const Shape& own = g_.type(edge.source)->shape;
      return edge.tms.empty() && (own == shape || own.rank() == 0);
    });
  }

  // What the value comes from by the inverse of the first of these steps, and how many that takes: they need not be done.
  std::pair<Edge, std::size_t> before_inverse(const Movement& movement, Edge edge) const {
    std::size_t undone = 0;
    for (; undone < movement.size() && is_rearrangement(g_.node(edge.source.node)); ++undone) {
      if (!(step_of(g_.node(edge.source.node)) == movement[undone].inverse())) break;
      edge = g_.node(edge.source.node).inputs()[0];
    }
    return {edge, undone};
  }

  // Called after the op for which it is.
  NodeId moved_by(const Movement& movement, const Edge& edge, NodeId basis) {
    graph::GraphEditor editor(g_, basis);
    const graph::ValueType type = *g_.type(edge.source);
    auto [at, undone] = before_inverse(movement, edge);
    for (const Step& step : std::span(movement).subspan(undone)) {
      graph::AttrMap attrs;
      const bool transposes = !step.perm.empty();
      attrs[transposes ? "perm" : "shape"] = transposes ? step.perm : step.to.dims();
      const NodeId id =
          editor.add("layout", transposes ? "transpose" : "reshape", {at}, {{type.dtype, step.to, type.format}}, std::move(attrs));
      // A movement adds nothing up: before a sum it belongs to its phase, after it to the optimizer's.
      if (const Node& of = g_.node(basis); graph::adds_up_gradients(of))
        g_.node(id).tags = {{graph::kPhase, edge.source.node == basis ? graph::kPhaseOptimizer : graph::kPhaseBackward}};
      g_.node(id).tags.erase("dont_fuse");
      at = Edge(id);
    }
    return at.source.node;
  }

  Graph& g_;
  PassContext& context_;
  std::set<NodeId> states_;
  PassReport report_;
};

Result<PassReport> layout_states(Graph& graph, PassContext& context) { return StateLayouts(graph, context).run(); }

}  // namespace

const Pass kLayoutStates = {.name = "layout-states",
                            .summary = "keep the states of a training step in the order in which the model reads its weights",
                            .level = graph::Level::tensor,
                            .run = layout_states};

}  // namespace buda::passes
