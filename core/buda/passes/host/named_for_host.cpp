// SPDX-License-Identifier: Apache-2.0
// Finding the ops that the user names.
#include <buda/passes/host/cpu_fallback.hpp>

#include <buda/base/text.hpp>
#include <buda/graph/tags/placement.hpp>
#include <buda/passes/host/host_part.hpp>
#include <buda/passes/host/op_words.hpp>
#include <buda/passes/integers/digit_parts.hpp>

#include <buda/ops/table/registry.hpp>

#include <algorithm>
#include <map>
#include <set>

namespace buda::passes {
namespace {

using graph::Graph;
using graph::Node;
using graph::NodeId;

// Integers of a table that is compared place by place are data like any other; those of quantised models stand for floats.
bool is_list_of_integers(const Graph& graph, const Node& n, const graph::ValueType& table) {
  if (is_float(table.dtype) || table.shape.rank() == 0 || table.shape[0] > kMaxComparedPlaces) return false;
  const auto users = graph.users(n.id());
  return std::none_of(users.begin(), users.end(), [&](const graph::Use& use) { return graph.node(use.node).op() == "dequantize"; });
}

// Rows of a table, found when the model runs.
bool is_embedding(const Graph& graph, const Node& n, const std::vector<char>& known) {
  if (n.op() != "gather" || n.inputs().size() != 2) return false;
  const graph::ValueType* table = graph.type(n.inputs()[0].source);
  auto dim = n.attrs.find("dim");
  const auto* axis = dim == n.attrs.end() ? nullptr : std::get_if<std::int64_t>(&dim->second);
  bool first = table != nullptr && (axis == nullptr || *axis == 0 || *axis == -static_cast<std::int64_t>(table->shape.rank()));
  if (!first || is_list_of_integers(graph, n, *table)) return false;
  return known[n.inputs()[0].source.node.index()] != 0 && known[n.inputs()[1].source.node.index()] == 0;
}

Result<std::set<std::string>> wanted_ops(const std::vector<std::string>& names) {
  std::set<std::string> out;
  Failure failure;
  for (const std::string& name : names) {
    const std::vector<std::string> ops = tensor_ops_of(name);
    out.insert(ops.begin(), ops.end());
    if (!ops.empty()) continue;
    Diagnostic d = usage_error("PA062", cat("no op is called '", name, '\''));
    if (auto near = nearest_op_word(name)) d.hint = cat("did you mean '", *near, "'?");
    failure.add(std::move(d));
  }
  if (!failure.empty()) return failure;
  return out;
}

}  // namespace

Result<std::vector<std::string>> mark_for_host(Graph& graph, const NamedForHost& named) {
  BUDA_ASSIGN(std::set<std::string> wanted, wanted_ops(named.ops));
  std::vector<char> known = known_nodes(graph);
  std::set<std::string> nodes(named.nodes.begin(), named.nodes.end()), found;
  for (NodeId id : graph.ids()) {
    Node& n = graph.node(id);
    if (!n.is_op()) continue;
    bool by_node = nodes.contains(n.name());
    if (by_node) found.insert(n.name());
    for (const graph::Origin& origin : n.origins) {
      if (!nodes.contains(origin.node)) continue;
      by_node = true;
      found.insert(origin.node);
    }
    if (by_node || wanted.contains(n.op()) || (wanted.contains(std::string(kEmbedding)) && is_embedding(graph, n, known)))
      graph::put_on_host(n);
  }
  std::vector<std::string> left;
  for (const std::string& name : named.nodes)
    if (!found.contains(name)) left.push_back(name);
  return left;
}

namespace {

bool only_moves(const Node& n) {
  const ops::OpDef* def = ops::standard_ops().find(graph::Level::tensor, n.op());
  return def != nullptr && (def->family == "movement" || def->family == "rearrange");
}

// An op, and the movements through which alone its result goes: the device then takes it as it is read.
void put_with_movements(Graph& graph, NodeId id) {
  graph::put_on_host(graph.node(id));
  for (auto users = graph.users(id); users.size() == 1; users = graph.users(id)) {
    id = users.front().node;
    if (!graph.node(id).is_op() || !only_moves(graph.node(id))) return;
    graph::put_on_host(graph.node(id));
  }
}

}  // namespace

void mark_made_for_host(Graph& graph, const std::vector<std::string>& nodes, Host& host) {
  std::map<std::string, NodeId> ops;
  for (NodeId id : graph.ids())
    if (graph.node(id).is_op()) ops.emplace(graph.node(id).name(), id);
  for (const std::string& name : nodes) {
    auto found = ops.find(name);
    // What lowering makes of a movement has that movement's name before a dot.
    for (std::size_t dot = name.rfind('.'); found == ops.end() && dot != std::string::npos && dot > 0; dot = name.rfind('.', dot - 1)) {
      found = ops.find(name.substr(0, dot));
      if (found == ops.end()) continue;
      if (!only_moves(graph.node(found->second))) found = ops.end();
      break;
    }
    if (found != ops.end()) {
      put_with_movements(graph, found->second);
    } else {
      host.report(warning("PA061", {}, cat("the graph has no op '", name, "', which should go to the host")));
    }
  }
}

}  // namespace buda::passes
