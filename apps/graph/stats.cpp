// SPDX-License-Identifier: Apache-2.0
// graph stats: counts of nodes, operations and weights.
#include "apps/graph/run.hpp"

#include <buda/base/text.hpp>
#include <buda/graph/tags/placement.hpp>
#include <buda/ops/table/registry.hpp>

#include <algorithm>
#include <map>

namespace buda::graph_tool {
namespace {

struct OpCount {
  std::int64_t nodes = 0;
  double flops = 0;
};

double flops_of(const graph::Graph& graph, const graph::Node& node) {
  const ops::OpDef* def = ops::standard_ops().find(graph::level_of(graph, node), node.op());
  if (def == nullptr || def->flops == nullptr) return 0;
  std::vector<graph::ValueType> inputs;
  for (const auto& edge : node.inputs()) {
    auto type = graph.type(edge);
    if (!type) return 0;
    inputs.push_back(*type);
  }
  return ops::flops(*def, inputs, node.outputs, node.attrs);
}

std::string whole(double flops) { return cat(static_cast<std::int64_t>(std::min(flops, 9e18) + 0.5)); }

std::string right(const std::string& text, std::size_t width) {
  return text.size() >= width ? text : std::string(width - text.size(), ' ') + text;
}

}  // namespace

Result<void> stats(const Options& o, Host& host) {
  BUDA_ASSIGN(auto graph, read_typed(o.graph, host));
  std::map<std::string, OpCount> counts;
  std::map<graph::NodeId, std::int64_t> depth;  // ops on the longest way to a node, itself included
  std::int64_t parameters = 0, longest = 0, ops = 0;
  std::uint64_t elements = 0, bytes = 0;
  double flops = 0;
  for (graph::NodeId id : graph.topological_order()) {
    const graph::Node& n = graph.node(id);
    std::int64_t before = 0;
    for (const auto& edge : n.inputs())
      if (auto it = depth.find(edge.source.node); it != depth.end()) before = std::max(before, it->second);
    depth[id] = before + (n.is_op() ? 1 : 0);
    longest = std::max(longest, depth[id]);
    if (n.has_value()) {
      ++parameters;
      if (!n.outputs.empty()) {
        std::uint64_t volume = static_cast<std::uint64_t>(n.outputs[0].shape.volume().value_or(0));
        elements += volume;
        bytes += volume * dtype_size(n.outputs[0].dtype);
      }
    }
    if (!n.is_op()) continue;
    ++ops;
    OpCount& c = counts[n.op()];
    ++c.nodes;
    double f = flops_of(graph, n);
    c.flops += f;
    flops += f;
  }
  std::vector<std::pair<std::string, OpCount>> sorted(counts.begin(), counts.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second.nodes > b.second.nodes; });
  std::size_t width = 5;
  for (const auto& [op, c] : sorted) width = std::max(width, op.size());
  std::string text =
      cat("graph ", graph.name, ", ", graph::level_name(graph.level), " level: ", graph.inputs().size(), " inputs, ",
          graph.outputs().size(), " outputs\nweights and constants: ", parameters, ", ", elements, " elements, ", bytes_text(bytes),
          "\nlongest path: ", longest, " ops\n\n", "op", std::string(width - 2, ' '), right("nodes", 8), right("FLOP", 18), '\n');
  auto row = [&](const std::string& op, std::int64_t nodes, double f) {
    text += cat(op, std::string(width - op.size(), ' '), right(cat(nodes), 8), right(whole(f), 18), '\n');
  };
  for (const auto& [op, c] : sorted) row(op, c.nodes, c.flops);
  row("all", ops, flops);
  return host.fs().write(o.output, text, host.write_mode);
}

}  // namespace buda::graph_tool
