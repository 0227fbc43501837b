// SPDX-License-Identifier: Apache-2.0
// Evaluation of constants, and comparison of their parts.
#include <buda/ops/rows/free_values.hpp>

#include <buda/graph/values/value.hpp>
#include <buda/ops/whole_graph/evaluate.hpp>

#include <algorithm>
#include <map>

namespace buda::ops {
namespace {

// The node and all that it depends on.
std::vector<bool> needed_for(const graph::Graph& graph, graph::NodeId id) {
  std::vector<graph::NodeId> open{id};
  std::vector<bool> needed(graph.id_bound());
  needed[id.index()] = true;
  while (!open.empty()) {
    const graph::NodeId next = open.back();
    open.pop_back();
    for (const graph::Edge& edge : graph.node(next).inputs()) {
      if (needed[edge.source.node.index()]) continue;
      needed[edge.source.node.index()] = true;
      open.push_back(edge.source.node);
    }
  }
  return needed;
}

bool depends_on_input(const graph::Graph& graph, graph::NodeId id) {
  if (graph.node(id).has_value()) return false;
  const std::vector<bool> needed = needed_for(graph, id);
  return std::any_of(graph.inputs().begin(), graph.inputs().end(), [&](graph::NodeId input) { return needed[input.index()]; });
}

std::optional<Tensor> computed(const graph::Graph& graph, graph::ValueRef value) {
  if (const graph::Node& n = graph.node(value.node); n.has_value()) return n.value ? std::optional(n.value->tensor) : std::nullopt;
  const std::vector<bool> needed = needed_for(graph, value.node);
  std::map<graph::NodeId, std::vector<Tensor>> values;
  for (graph::NodeId id : graph.topological_order()) {
    if (!needed[id.index()]) continue;
    const graph::Node& n = graph.node(id);
    if (n.has_value()) {
      if (!n.value) return std::nullopt;
      values[id] = {n.value->tensor};
      continue;
    }
    std::vector<Tensor> inputs;
    for (const graph::Edge& edge : n.inputs()) inputs.push_back(values.at(edge.source.node).at(edge.source.port));
    auto results = evaluate_node(n, graph::Level::tensor, inputs);
    if (!results) return std::nullopt;
    values[id] = std::move(*results);
  }
  return values.at(value.node).at(value.port);
}

// Elements along the axis seen as (outer, rows, inner): whether the parts of all rows are equal.
bool parts_are_equal(const Tensor& tensor, std::size_t axis, std::int64_t batch, const RowFlow& like) {
  const Shape& shape = tensor.shape();
  const std::string_view bytes = tensor.bytes();
  std::int64_t before = like.outer;
  for (std::size_t i = 0; i < axis; ++i) before *= shape[i];
  const std::size_t part = before * batch == 0 ? 0 : bytes.size() / static_cast<std::size_t>(before * batch);
  for (std::int64_t o = 0; o < before; ++o) {
    const std::string_view first = bytes.substr(static_cast<std::size_t>(o * batch) * part, part);
    for (std::int64_t b = 1; b < batch; ++b)
      if (bytes.substr(static_cast<std::size_t>(o * batch + b) * part, part) != first) return false;
  }
  return true;
}

}  // namespace

std::optional<Tensor> constant_value(const graph::Graph& graph, graph::ValueRef value) {
  if (depends_on_input(graph, value.node)) return std::nullopt;
  return computed(graph, value);
}

bool same_for_all_rows(const RowCall& call, std::size_t input, std::size_t axis, const RowFlow& like) {
  const Shape& shape = call.shapes[input];
  if (call.batch == 1 || axis >= shape.rank() || shape[axis] == 1) return true;
  if (shape[axis] != like.outer * call.batch * like.inner) return false;
  const graph::ValueRef source = call.node.inputs()[input].source;
  if (depends_on_input(call.graph, source.node)) return true;
  auto value = computed(call.graph, source);
  return value && parts_are_equal(*value, axis, call.batch, like);
}

}  // namespace buda::ops
