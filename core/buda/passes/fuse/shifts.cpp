// SPDX-License-Identifier: Apache-2.0
// Finds sums with constants whose results are multiplied.
#include <buda/passes/fuse/shifts.hpp>

#include <buda/graph/values/fused_body.hpp>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <variant>
#include <vector>

namespace buda::passes {
namespace {

using graph::FusedBody;
using graph::FusedOperand;

bool adds_constant(const graph::Graph& graph, std::string_view type, const std::vector<graph::NodeId>& read) {
  return (type == "add" || type == "subtract") &&
         std::any_of(read.begin(), read.end(), [&](graph::NodeId id) { return graph.node(id).has_value(); });
}

// The first step after `from` that reads what it writes is a product.
bool is_multiplied(const FusedBody& body, std::size_t from) {
  const FusedOperand& written = body.steps[from].output;
  for (std::size_t i = from + 1; i < body.steps.size(); ++i) {
    const std::vector<FusedOperand>& read = body.steps[i].inputs;
    if (std::find(read.begin(), read.end(), written) != read.end()) return body.steps[i].type == "multiply";
  }
  return false;
}

}  // namespace

bool is_multiplied_shift(const graph::Graph& graph, graph::NodeId id, graph::NodeId root) {
  const graph::Node& n = graph.node(id);
  std::vector<graph::NodeId> read;
  for (const graph::Edge& edge : n.inputs()) read.push_back(edge.source.node);
  const auto users = graph.users(id);
  return id != root && adds_constant(graph, n.op(), read) &&
         std::all_of(users.begin(), users.end(), [&](const graph::Use& use) { return graph.node(use.node).op() == "multiply"; });
}

bool holds_multiplied_shift(const graph::Graph& graph, const graph::Node& op) {
  const auto attr = op.attrs.find(graph::kSubOps);
  if (attr == op.attrs.end()) return false;
  const FusedBody& body = *std::get<graph::SharedBody>(attr->second);
  for (std::size_t i = 0; i < body.steps.size(); ++i) {
    std::vector<graph::NodeId> read;
    for (const FusedOperand& o : body.steps[i].inputs)
      if (o.kind == FusedOperand::Kind::input) read.push_back(op.inputs()[static_cast<std::size_t>(o.index)].source.node);
    if (adds_constant(graph, body.steps[i].type, read) && is_multiplied(body, i)) return true;
  }
  return false;
}

}  // namespace buda::passes
