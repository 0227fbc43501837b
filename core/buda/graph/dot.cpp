// Graphviz text.
#include <buda/graph/dot.hpp>

#include <buda/base/text.hpp>
#include <buda/graph/fused_body.hpp>

namespace buda::graph {
namespace {

// A quoted string of Graphviz. Lines are separated by "\n" beforehand; other backslashes of the text are its own.
std::string quoted(const std::vector<std::string>& lines) {
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

std::string style(const Node& n) {
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

std::vector<std::string> label(const Node& n) {
  std::vector<std::string> lines = {n.name()};
  if (n.is_op()) lines.push_back(n.op());
  for (const auto& [name, attr] : fused_attrs_for_file(n.attrs)) lines.push_back(cat(name, " = ", attr_text(attr)));
  if (n.has_value() && !n.outputs.empty()) lines.push_back(n.outputs[0].text());
  return lines;
}

}  // namespace

std::string dot_text(const Graph& graph) {
  std::string out = cat("digraph ", quoted({graph.name}), " {\n  rankdir=TB;\n  node [fontname=\"Helvetica\", fontsize=11];\n",
                        "  edge [fontname=\"Helvetica\", fontsize=9, color=gray40];\n");
  std::vector<NodeId> order = graph.topological_order();
  for (NodeId id : order) {
    const Node& n = graph.node(id);
    out += cat("  n", id.value(), " [label=", quoted(label(n)), ", ", style(n), "];\n");
  }
  for (NodeId id : order)
    for (const auto& edge : graph.node(id).inputs()) {
      if (!graph.contains(edge.source.node)) continue;
      std::vector<std::string> lines;
      // The type of a weight stands in its node already.
      const ValueType* type = graph.type(edge.source);
      if (type != nullptr && !graph.node(edge.source.node).has_value()) lines.push_back(type->text());
      for (const auto& tm : edge.tms) lines.push_back(tm.text());
      out += cat("  n", edge.source.node.value(), " -> n", id.value());
      if (!lines.empty()) out += cat(" [label=", quoted(lines), ']');
      out += ";\n";
    }
  return out + "}\n";
}

}  // namespace buda::graph
