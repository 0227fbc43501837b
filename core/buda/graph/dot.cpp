// Graphviz text.
//
// A drawing has nodes and edges of its own (Drawing), because in an overview a node of it may stand for several of the graph's.
#include <buda/graph/dot.hpp>

#include <buda/base/text.hpp>
#include <buda/graph/fused_body.hpp>
#include <buda/graph/repeats.hpp>

#include <algorithm>
#include <set>
#include <unordered_map>

namespace buda::graph {
namespace {

// Of texts, attributes and weights of a node in an overview.
constexpr std::size_t kMaxText = 48, kMaxAttributes = 4, kMaxWeights = 4;
// From so many nodes on Graphviz' own search for a good layout takes minutes.
constexpr std::size_t kLargeDrawing = 400;

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

// Cut between characters, which may have several bytes.
std::string shortened(std::string text) {
  if (text.size() <= kMaxText) return text;
  std::size_t end = kMaxText - 3;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end) + "...";
}

std::string shape_text(const ValueType& type) {
  std::vector<std::string> dims;
  for (std::int64_t d : type.shape.dims()) dims.push_back(std::to_string(d));
  return dims.empty() ? "scalar" : join(dims, "x");
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

// The lines of a node in a full drawing.
std::vector<std::string> full_label(const Node& n) {
  std::vector<std::string> lines = {n.name()};
  if (n.is_op()) lines.push_back(n.op());
  for (const auto& [name, attr] : fused_attrs_for_file(n.attrs)) lines.push_back(cat(name, " = ", attr_text(attr)));
  if (n.has_value() && !n.outputs.empty()) lines.push_back(n.outputs[0].text());
  return lines;
}

void append_limited(std::vector<std::string>& lines, const std::vector<std::string>& more, std::size_t most, std::string_view what) {
  for (std::size_t i = 0; i < std::min(more.size(), most); ++i) lines.push_back(shortened(more[i]));
  if (more.size() > most) lines.push_back(cat("and ", more.size() - most, " more ", what));
}

// The same in an overview, with the weights that the node uses.
std::vector<std::string> overview_label(const Graph& graph, const Node& n) {
  std::vector<std::string> lines = {shortened(n.name())}, attributes, weights;
  if (n.is_op()) lines.push_back(n.op());
  for (const auto& [name, attr] : fused_attrs_for_file(n.attrs)) attributes.push_back(cat(name, " = ", attr_text(attr)));
  for (const Edge& edge : n.inputs()) {
    if (!graph.contains(edge.source.node)) continue;
    const Node& from = graph.node(edge.source.node);
    if (from.has_value() && !from.outputs.empty()) weights.push_back(cat(shape_text(from.outputs[0]), ' ', from.name()));
  }
  append_limited(lines, attributes, kMaxAttributes, "attributes");
  append_limited(lines, weights, kMaxWeights, "weights");
  return lines;
}

std::vector<std::string> edge_label(const Graph& graph, const Edge& edge, Detail detail) {
  std::vector<std::string> lines;
  const ValueType* type = graph.type(edge.source);
  // The type of a weight stands in its node already.
  if (type != nullptr && !graph.node(edge.source.node).has_value())
    lines.push_back(detail == Detail::full ? type->text() : shape_text(*type));
  for (const auto& tm : edge.tms) lines.push_back(detail == Detail::full ? tm.text() : shortened(tm.text()));
  return lines;
}

// A node that lies in a repeat.
struct InBlock {
  NodeId drawn_as;  // the node in the first block that stands for it
  std::size_t repeat = 0, block = 0;
};

struct Drawing {
  std::vector<NodeId> order;    // the nodes that appear or are stood for, in topological order
  std::vector<Repeat> repeats;  // of `order`; drawn is the first block of each
  std::unordered_map<NodeId, InBlock> in_block;

  const InBlock* block_of(NodeId id) const {
    auto it = in_block.find(id);
    return it == in_block.end() ? nullptr : &it->second;
  }
  NodeId drawn(NodeId id) const {
    const InBlock* in = block_of(id);
    return in == nullptr ? id : in->drawn_as;
  }
};

Drawing drawing_of(const Graph& graph, Detail detail) {
  Drawing d;
  for (NodeId id : graph.topological_order())
    if (detail == Detail::full || !graph.node(id).has_value()) d.order.push_back(id);
  if (detail == Detail::full) return d;
  d.repeats = repeated_blocks(graph, d.order);
  for (std::size_t k = 0; k < d.repeats.size(); ++k) {
    const Repeat& r = d.repeats[k];
    for (std::size_t i = 0; i < r.length * r.times; ++i)
      d.in_block.emplace(d.order[r.first + i], InBlock{d.order[r.first + i % r.length], k, i / r.length});
  }
  return d;
}

// The frames around blocks that are drawn once.
std::string frames(const Graph& graph, const Drawing& d) {
  std::string out;
  for (std::size_t k = 0; k < d.repeats.size(); ++k) {
    const Repeat& r = d.repeats[k];
    const std::string& last = graph.node(d.order[r.first + (r.times - 1) * r.length]).name();
    out += cat("  subgraph cluster_", k, " {\n    label=", quoted({cat(r.times, " times; the last begins with ", shortened(last))}),
               ";\n    style=\"rounded,dashed\"; color=gray50; fontname=\"Helvetica\"; fontsize=10;\n   ");
    for (std::size_t i = 0; i < r.length; ++i) out += cat(" n", d.order[r.first + i].value(), ';');
    out += "\n  }\n";
  }
  return out;
}

// The edges into a node. Those from one block of a repeat to the next are drawn once: they lead back within the frame, dashed, and do not
// decide the layout.
void append_edges(const Graph& graph, const Drawing& d, NodeId id, Detail detail, std::set<std::string>& drawn_once, std::string& out) {
  const InBlock* to = d.block_of(id);
  for (const auto& edge : graph.node(id).inputs()) {
    if (!graph.contains(edge.source.node) || (detail == Detail::overview && graph.node(edge.source.node).has_value())) continue;
    const InBlock* from = d.block_of(edge.source.node);
    const bool inside = to != nullptr && from != nullptr && to->repeat == from->repeat;
    const bool to_other_block = inside && from->block != to->block;
    if (to != nullptr && to->block != 0 && !to_other_block) continue;  // the first block has the same edge
    std::string text = cat("  n", d.drawn(edge.source.node).value(), " -> n", d.drawn(id).value());
    std::vector<std::string> lines = edge_label(graph, edge, detail);
    if (to_other_block)
      text += cat(" [label=", quoted(lines), ", style=dashed, constraint=false]");
    else if (!lines.empty())
      text += cat(" [label=", quoted(lines), ']');
    if (!to_other_block || drawn_once.insert(text).second) out += text + ";\n";
  }
}

}  // namespace

std::string dot_text(const Graph& graph, Detail detail) {
  const Drawing d = drawing_of(graph, detail);
  std::string nodes, edges;
  std::set<std::string> drawn_once;
  std::size_t count = 0;
  for (NodeId id : d.order) {
    append_edges(graph, d, id, detail, drawn_once, edges);
    if (d.drawn(id) != id) continue;
    const Node& n = graph.node(id);
    nodes += cat("  n", id.value(), " [label=", quoted(detail == Detail::full ? full_label(n) : overview_label(graph, n)), ", ", style(n),
                 "];\n");
    ++count;
  }
  std::string out = cat("digraph ", quoted({graph.name}), " {\n  rankdir=TB;\n");
  if (count > kLargeDrawing) out += "  nslimit=1; nslimit1=1; mclimit=0.1; splines=line;\n";
  out += "  node [fontname=\"Helvetica\", fontsize=11];\n  edge [fontname=\"Helvetica\", fontsize=9, color=gray40];\n";
  return cat(out, nodes, frames(graph, d), edges, "}\n");
}

}  // namespace buda::graph
