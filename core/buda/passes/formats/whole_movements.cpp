// SPDX-License-Identifier: Apache-2.0
// Numbers split into the bits of a multiplier and the rest, moved, and added up.
#include <buda/passes/formats/whole_movements.hpp>

#include <buda/ops/linear_algebra/sparse.hpp>
#include <buda/passes/formats/format_facts.hpp>
#include <buda/passes/pipeline/graph_names.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <map>
#include <utility>

namespace buda::passes {
namespace {

struct Parts {
  NodeId high, low;
};

bool has_more_bits(const ValueType& type) {
  return type.format == DataFormat::float32 || type.format == DataFormat::tf32 || type.format == DataFormat::float16;
}

bool is_left_of_product(const Graph& graph, const graph::Use& use) {
  const Node& user = graph.node(use.node);
  return (user.op() == "matmul" || user.op() == "depthwise") && !ops::is_sparse_product(user);
}

bool needs_parts(const Graph& graph, const Node& n) {
  if (!ops::is_sparse_product(n) || n.inputs().size() != 2) return false;
  if (!has_more_bits(*graph.type(n.inputs()[1].source)) || !has_more_bits(n.outputs[0])) return false;
  const auto users = graph.users(n.id());
  return !std::all_of(users.begin(), users.end(), [&](const graph::Use& use) { return is_left_of_product(graph, use); });
}

// The tile of ones for every tile of a value.
Edge ones_for(GraphEditor& editor, const ValueType& type) {
  constexpr std::int64_t kTile = graph::kTileSide;
  const NodeId ones = editor.add_constant("ones", Tensor(Shape{1, 1, kTile, kTile}, std::vector<float>(kTile * kTile, 1.0f)));
  editor.graph().node(ones).outputs[0].format = type.format;
  Edge edge(ones);
  const std::pair<TmDim, std::int64_t> repeats[] = {
      {TmDim::z, type.shape[1]}, {TmDim::r, type.shape[2] / kTile}, {TmDim::c, type.shape[3] / kTile}};
  for (auto [dim, n] : repeats)
    if (n > 1) edge.tms.push_back(Tm::broadcast(dim, n));
  return edge;
}

// The format of parts: the last bit of a small Float16 would be a denormal, which registers do not hold.
ValueType part_type(ValueType type, bool in_float32) {
  if (in_float32) type.format = DataFormat::float32;
  return type;
}

Parts parts_of(GraphEditor& editor, graph::ValueRef x, bool in_float32) {
  const ValueType given = *editor.graph().type(x), type = part_type(given, in_float32);
  if (given.format != type.format) x = editor.add("wide", "nop", {x}, {type});
  const Edge ones = ones_for(editor, type);
  const NodeId high = editor.add("high", "multiply", {x, ones}, {type});
  return {high, editor.add("low", "subtract", {x, high}, {type})};
}

}  // namespace

std::size_t keep_whole_movements(Graph& graph, const std::vector<NodeId>& nodes, bool in_float32) {
  std::map<graph::ValueRef, Parts> parts;
  std::size_t count = 0;
  for (NodeId id : nodes) {
    if (!needs_parts(graph, graph.node(id))) continue;
    GraphEditor editor(graph, id);
    const Edge picks = graph.node(id).inputs()[0], x = graph.node(id).inputs()[1];
    auto found = parts.find(x.source);
    if (found == parts.end()) found = parts.emplace(x.source, parts_of(editor, x.source, in_float32)).first;
    // What the packer does to the result comes after the sum.
    graph::AttrMap moves, packs;
    for (const auto& [name, value] : graph.node(id).attrs) (name == "identity" || name == "slices" ? moves : packs)[name] = value;
    const ValueType whole = graph.node(id).outputs[0];
    const std::vector<ValueType> types{part_type(whole, in_float32)};
    const NodeId high = editor.add("moved", "matmul", {picks, Edge(found->second.high, x.tms)}, types, moves);
    const NodeId low = editor.add("moved_low", "matmul", {picks, Edge(found->second.low, x.tms)}, types, moves);
    editor.replace(id, editor.add("whole", "add", {high, low}, {whole}, packs));
    ++count;
  }
  return count;
}

}  // namespace buda::passes
