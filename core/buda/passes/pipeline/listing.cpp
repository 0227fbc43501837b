// SPDX-License-Identifier: Apache-2.0
// Printing graphs for people.
#include <buda/passes/pipeline/listing.hpp>

#include <buda/passes/formats/precision_rules.hpp>

#include <buda/base/text.hpp>
#include <buda/graph/graph.hpp>
#include <buda/graph/values/fused_body.hpp>

namespace buda::passes {
namespace {

using graph::Graph;
using graph::Node;

std::string input_text(const Graph& graph, const graph::Edge& edge) {
  if (!graph.contains(edge.source.node)) return "?";
  std::string out = graph.node(edge.source.node).name();
  if (edge.source.port != 0) out += cat(':', edge.source.port);
  if (edge.tms.empty()) return out;
  std::vector<std::string> tms;
  for (const auto& tm : edge.tms) tms.push_back(tm.text());
  return cat(out, " {", join(tms, ", "), '}');
}

std::string precision_text(const graph::Precision& p) {
  std::string out;
  if (p.intermediate && p.intermediate != p.accumulate) out += cat(", intermediate ", format_name(*p.intermediate));
  if (p.accumulate) out += cat(", acc ", format_name(*p.accumulate));
  if (p.fidelity) out += cat(", ", graph::fidelity_name(*p.fidelity));
  return out;
}

}  // namespace

std::string listing(const Graph& graph) {
  std::string out = cat("graph ", graph.name, ", ", graph::level_name(graph.level), " level\n");
  for (graph::NodeId id : graph.topological_order()) {
    const Node& n = graph.node(id);
    out += cat(n.name(), " = ", n.op());
    std::vector<std::string> inputs;
    for (const auto& edge : n.inputs()) inputs.push_back(input_text(graph, edge));
    if (!inputs.empty()) out += cat('(', join(inputs, ", "), ')');
    for (const auto& [name, attr] : graph::fused_attrs_for_file(n.attrs)) out += cat(' ', name, '=', graph::attr_text(attr));
    for (const auto& [name, text] : n.tags)
      if (name != kOriginalOpType) out += text.empty() ? cat(" #", name) : cat(" #", name, '=', text);
    for (std::size_t i = 0; i < n.outputs.size(); ++i) out += cat(i == 0 ? " : " : ", ", n.outputs[i].text());
    out += cat(precision_text(n.precision), '\n');
  }
  return out;
}

}  // namespace buda::passes
