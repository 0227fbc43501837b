// SPDX-License-Identifier: Apache-2.0
// Texts are made here, so that the page shows numbers as the graph file has them.
#include "apps/reportify/pass_data.hpp"

#include <buda/base/text.hpp>
#include <buda/graph/parts/order_parts.hpp>
#include <buda/graph/tags/placement.hpp>
#include <buda/graph/value_type.hpp>
#include <buda/tensor/data_format.hpp>

#include <algorithm>
#include <map>

namespace buda::reportify {
namespace {

using io::Node;

// As many nodes are drawn at once; a larger graph is divided into so many parts, with so many edges between them.
constexpr std::size_t kMaxNodes = 400, kMaxParts = 150, kMaxEdges = 300;

Node texts(const std::vector<std::string>& values) {
  Node out = Node::list();
  for (const std::string& value : values) out.push(Node::string(value));
  return out;
}

const char* kind_name(graph::NodeKind kind) {
  switch (kind) {
    case graph::NodeKind::input:
      return "input";
    case graph::NodeKind::parameter:
      return "parameter";
    case graph::NodeKind::constant:
      return "constant";
    case graph::NodeKind::output:
      return "output";
    case graph::NodeKind::op:
      return "op";
  }
  return "op";
}

Facts attribute_facts(const graph::Node& n) {
  Facts out;
  for (const auto& [name, value] : n.attrs) out.emplace_back(name, graph::attr_text(value));
  return out;
}

Facts precision_facts(const graph::Node& n) {
  Facts out;
  if (n.precision.intermediate) out.emplace_back("intermediate", format_name(*n.precision.intermediate));
  if (n.precision.accumulate) out.emplace_back("accumulate", format_name(*n.precision.accumulate));
  if (n.precision.fidelity) out.emplace_back("fidelity", graph::fidelity_name(*n.precision.fidelity));
  return out;
}

void add_facts(Node& out, const char* key, const Facts& facts) {
  if (!facts.empty()) out.add(key, facts_node(facts));
}

Node inputs_node(const graph::Node& n, const std::map<graph::NodeId, std::size_t>& places) {
  Node out = Node::list();
  for (const graph::Edge& edge : n.inputs()) {
    std::vector<std::string> tms;
    for (const graph::Tm& tm : edge.tms) tms.push_back(tm.text());
    out.push(Node::list({Node::integer(static_cast<std::int64_t>(places.at(edge.source.node))),
                         Node::integer(static_cast<std::int64_t>(edge.source.port)), Node::string(join(tms, ", "))}));
  }
  return out;
}

Node node_of(const graph::Graph& graph, const graph::Node& n, const std::map<graph::NodeId, std::size_t>& places) {
  Node out = Node::map({{"name", Node::string(n.name())}, {"op", Node::string(n.op())}, {"kind", Node::string(kind_name(n.kind()))}});
  if (graph::on_host(graph, n)) out.add("host", Node::boolean(true));
  std::vector<std::string> types;
  for (const graph::ValueType& type : n.outputs) types.push_back(type.text());
  out.add("types", texts(types));
  out.add("inputs", inputs_node(n, places));
  add_facts(out, "attrs", attribute_facts(n));
  add_facts(out, "precision", precision_facts(n));
  add_facts(out, "tags", {n.tags.begin(), n.tags.end()});
  Facts origins;
  for (const graph::Origin& origin : n.origins) origins.emplace_back(origin.file, origin.node);
  add_facts(out, "origins", origins);
  return out;
}

// The number of each node's part, by place. Weights are where they are used first.
std::vector<std::size_t> parts_of(const graph::Graph& graph, const std::vector<graph::NodeId>& order,
                                  const std::map<graph::NodeId, std::size_t>& places) {
  std::vector<graph::NodeId> ops;
  for (const graph::NodeId id : order)
    if (!graph.node(id).has_value()) ops.push_back(id);
  const auto parts = graph::parts_of_order(graph, ops, {}, kMaxParts, kMaxEdges);
  std::vector<std::size_t> out(order.size(), 0);
  for (std::size_t at = 0; at < ops.size(); ++at) {
    const auto next = std::upper_bound(parts.begins.begin(), parts.begins.end(), at);
    out[places.at(ops[at])] = static_cast<std::size_t>(next - parts.begins.begin()) - 1;
  }
  for (std::size_t at = 0; at < order.size(); ++at) {
    if (!graph.node(order[at]).has_value()) continue;
    std::size_t first = parts.begins.size();
    for (const graph::Use& use : graph.users(order[at])) first = std::min(first, out[places.at(use.node)]);
    out[at] = first == parts.begins.size() ? 0 : first;
  }
  return out;
}

}  // namespace

io::Node pass_data(const graph::Graph& graph, const Placement* placement) {
  const auto order = graph.topological_order();
  std::map<graph::NodeId, std::size_t> places;
  for (const graph::NodeId id : order) places.emplace(id, places.size());
  const auto parts = order.size() > kMaxNodes ? parts_of(graph, order, places) : std::vector<std::size_t>{};
  const auto placed = placement != nullptr ? placed_facts(*placement) : std::map<std::string, Facts>{};
  const auto accuracy = placement != nullptr ? placed_accuracy(*placement) : std::map<std::string, runtime::OpAccuracy>{};
  Node nodes = Node::list();
  for (std::size_t at = 0; at < order.size(); ++at) {
    const graph::Node& n = graph.node(order[at]);
    Node node = node_of(graph, n, places);
    if (!parts.empty()) node.add("part", Node::integer(static_cast<std::int64_t>(parts[at])));
    if (const auto facts = placed.find(n.name()); facts != placed.end() && n.is_op()) add_facts(node, "placed", facts->second);
    if (const auto found = accuracy.find(n.name()); found != accuracy.end() && n.is_op())
      node.add("accuracy", accuracy_node(found->second));
    nodes.push(std::move(node));
  }
  return Node::map({{"graph", Node::string(graph.name)},
                    {"level", Node::string(graph.level == graph::Level::tensor ? "tensor" : "device")},
                    {"nodes", std::move(nodes)}});
}

}  // namespace buda::reportify
