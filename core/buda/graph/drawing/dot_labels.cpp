// SPDX-License-Identifier: Apache-2.0
// Labels: in full, and cut for overviews.
#include <buda/graph/drawing/dot_labels.hpp>

#include <buda/base/shortened.hpp>
#include <buda/base/text.hpp>
#include <buda/graph/drawing/label.hpp>
#include <buda/graph/graph.hpp>
#include <buda/graph/values/fused_body.hpp>

#include <algorithm>

namespace buda::graph {
namespace {

// Of a node or edge in an overview.
constexpr std::size_t kMaxNames = 8, kMaxAttributes = 4, kMaxWeights = 4, kMaxTms = 3;

// The label of a node, a line for each of the nodes after which it is called.
std::vector<std::string> name_lines(const Node& n) {
  std::vector<std::string> lines = label_parts(n);
  for (std::size_t i = 0; i + 1 < lines.size(); ++i) lines[i] += " +";
  return lines;
}

// The lines of a node in a full drawing.
std::vector<std::string> full_label(const Node& n) {
  std::vector<std::string> lines = name_lines(n);
  if (n.is_op()) lines.push_back(n.op());
  for (const auto& [name, attr] : fused_attrs_for_file(n.attrs)) lines.push_back(cat(name, " = ", attr_text(attr)));
  if (n.has_value() && !n.outputs.empty()) lines.push_back(n.outputs[0].text());
  return lines;
}

void append_limited(std::vector<std::string>& lines, const std::vector<std::string>& more, std::size_t most, std::string_view what) {
  for (std::size_t i = 0; i < std::min(more.size(), most); ++i) lines.push_back(shortened(more[i], kMaxLabelText));
  if (more.size() > most) lines.push_back(cat("and ", more.size() - most, " more ", what));
}

// The same in an overview, with the weights that the node uses.
std::vector<std::string> overview_label(const Graph& graph, const Node& n) {
  std::vector<std::string> lines, attributes, weights;
  append_limited(lines, name_lines(n), kMaxNames, "nodes");
  if (n.is_op()) lines.push_back(n.op());
  for (const auto& [name, attr] : fused_attrs_for_file(n.attrs)) attributes.push_back(cat(name, " = ", attr_text(attr)));
  for (const Edge& edge : n.inputs()) {
    if (!graph.contains(edge.source.node)) continue;
    const Node& from = graph.node(edge.source.node);
    if (from.has_value() && !from.outputs.empty()) weights.push_back(cat(dot_shape(from.outputs[0]), ' ', from.name()));
  }
  append_limited(lines, attributes, kMaxAttributes, "attributes");
  append_limited(lines, weights, kMaxWeights, "weights");
  return lines;
}

}  // namespace

// A quoted string of Graphviz. Lines are separated by "\n" beforehand; other backslashes of the text are its own.
std::string dot_quoted(const std::vector<std::string>& lines) {
  std::string out = "\"";
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i != 0) out += "\\n";
    for (char c : lines[i]) {
      if (c == '"' || c == '\\') out += '\\';
      out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return out + '"';
}

std::string dot_shape(const ValueType& type) {
  std::vector<std::string> dims;
  for (std::int64_t d : type.shape.dims()) dims.push_back(std::to_string(d));
  return dims.empty() ? "scalar" : join(dims, "x");
}

std::string node_style(const Node& n) {
  switch (n.kind()) {
    case NodeKind::input:
    case NodeKind::output:
      return "shape=ellipse, style=filled, fillcolor=\"#d7e8fa\"";
    case NodeKind::parameter:
    case NodeKind::constant:
      return "shape=box, fontsize=9, color=gray50, fontcolor=gray30";
    case NodeKind::op:
      break;
  }
  return "shape=box, style=\"rounded,filled\", fillcolor=\"#f4f0e4\"";
}

std::vector<std::string> node_label(const Graph& graph, const Node& n, Detail detail) {
  return detail == Detail::full ? full_label(n) : overview_label(graph, n);
}

std::vector<std::string> edge_label(const Graph& graph, const Edge& edge, Detail detail) {
  std::vector<std::string> lines;
  const ValueType* type = graph.type(edge.source);
  // The type of a weight stands in its node already.
  if (type != nullptr && !graph.node(edge.source.node).has_value())
    lines.push_back(detail == Detail::full ? type->text() : dot_shape(*type));
  std::vector<std::string> tms;
  for (const auto& tm : edge.tms) tms.push_back(tm.text());
  if (detail == Detail::full)
    lines.insert(lines.end(), tms.begin(), tms.end());
  else
    append_limited(lines, tms, kMaxTms, "manipulations");
  return lines;
}

}  // namespace buda::graph
