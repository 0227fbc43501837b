// SPDX-License-Identifier: Apache-2.0
// Walking back from a value to what it is made of.
#include <buda/passes/precision/estimates.hpp>

#include <buda/graph/values/value.hpp>
#include <buda/passes/integers/integer_range.hpp>
#include <buda/passes/precision/op_estimates.hpp>
#include <buda/passes/simplify/constant_value.hpp>
#include <buda/tensor/tensor.hpp>

#include <set>
#include <string_view>
#include <utility>

namespace buda::passes {
namespace {

using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::NodeKind;

// The largest frequency is at least so many times the smallest.
constexpr double kMinSpread = 8;

// Numbers stay what they are.
bool hands_on(const Node& n) {
  static const std::set<std::string_view> ops = {"broadcast", "buffer",  "cast", "exact_cast", "nop",
                                                 "reshape",   "squeeze", "tile", "transpose",  "unsqueeze"};
  return ops.contains(n.op());
}

// The smallest of frequencies; 0 where it is not a table of them.
double slowest_of(const Graph& graph, const graph::Edge& edge) {
  const Tensor* table = value_of(graph, edge);
  if (table == nullptr || table->size() < 2 || !is_float(table->dtype())) return 0;
  const Estimate e = estimate_of(*table);
  return e.least > 0 && e.most >= kMinSpread * e.least ? e.least : 0;
}

}  // namespace

Estimates::Estimates(const Graph& graph, const Rounding& rounding)
    : graph_(graph), rounding_(rounding), state_(graph.id_bound(), State::open), results_(graph.id_bound()) {}

std::optional<Estimate> Estimates::of(graph::ValueRef value) {
  std::vector<NodeId> pending{value.node};
  while (!pending.empty()) {
    const NodeId id = pending.back();
    State& state = state_[id.index()];
    if (state == State::open) {
      state = State::busy;
      for (const graph::Edge& edge : graph_.node(id).inputs())
        if (state_[edge.source.node.index()] == State::open) pending.push_back(edge.source.node);
      continue;
    }
    pending.pop_back();
    if (std::exchange(state, State::done) == State::busy) results_[id.index()] = compute(graph_.node(id));
  }
  return results_[value.node.index()];
}

std::optional<Estimate> Estimates::compute(const Node& n) {
  if (n.outputs.empty()) return std::nullopt;
  const bool is_real = is_float(n.outputs[0].dtype);
  std::optional<Estimate> e;
  if (n.has_value() && n.value) {
    e = estimate_of(n.value->tensor);
  } else if (n.kind() == NodeKind::input) {
    e = of_input(n);
  } else {
    std::vector<Estimate> in;
    for (const graph::Edge& edge : n.inputs())
      if (const auto& known = results_[edge.source.node.index()]) in.push_back(*known);
    if (in.size() == n.inputs().size()) e = estimate_of_op(graph_, n, in);
    if (!e && !is_real) e = estimate_of_type(n.outputs[0].dtype, 0);
  }
  if (!e || !is_real) return e;
  return rounding_.stored(*e);
}

std::optional<Estimate> Estimates::of_input(const Node& n) const {
  const DType type = n.outputs[0].dtype;
  if (auto told = n.tags.find(kValueRange); told != n.tags.end())
    if (auto range = parse_range(told->second))
      return Estimate{static_cast<double>(range->least), static_cast<double>(range->most), 0, !is_float(type)};
  return estimate_of_type(type, is_float(type) ? size_of_positions(n) : 0);
}

double Estimates::size_of_positions(const Node& input) const {
  double size = 1;
  std::vector<std::pair<NodeId, double>> pending{{input.id(), 1.0}};  // values that are the input times a factor
  std::set<NodeId> met{input.id()};
  while (!pending.empty()) {
    const auto [id, factor] = pending.back();
    pending.pop_back();
    for (const graph::Use& use : graph_.users(id)) {
      const Node& n = graph_.node(use.node);
      double scale = hands_on(n) ? 1 : 0;
      if ((n.op() == "multiply" || n.op() == "matmul") && n.inputs().size() == 2) {
        const graph::Edge& other = n.inputs()[1 - use.input];
        if (const double slowest = slowest_of(graph_, other); slowest > 0) size = std::max(size, 1 / (slowest * factor));
        if (const auto uniform = uniform_value(graph_, other); uniform && n.op() == "multiply") scale = std::abs(*uniform);
      }
      if (scale > 0 && met.insert(use.node).second) pending.emplace_back(use.node, factor * scale);
    }
  }
  return size;
}

}  // namespace buda::passes
