// SPDX-License-Identifier: Apache-2.0
// Graphviz text.
//
// A drawing has nodes and edges of its own (Drawing), because in an overview a node of it may stand for several of the graph's.
#include <buda/graph/drawing/dot.hpp>

#include <buda/base/shortened.hpp>
#include <buda/base/text.hpp>
#include <buda/graph/drawing/dot_labels.hpp>
#include <buda/graph/drawing/dot_parts.hpp>
#include <buda/graph/graph.hpp>
#include <buda/graph/parts/repeats.hpp>

#include <set>
#include <unordered_map>

namespace buda::graph {
namespace {

// From so many nodes on Graphviz' own search for a good layout takes minutes, and nobody sees the whole.
constexpr std::size_t kLargeDrawing = 400;

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
    out += cat("  subgraph cluster_", k,
               " {\n    label=", dot_quoted({cat(r.times, " times; the last begins with ", shortened(last, kMaxLabelText))}),
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
      text += cat(" [label=", dot_quoted(lines), ", style=dashed, constraint=false]");
    else if (!lines.empty())
      text += cat(" [label=", dot_quoted(lines), ']');
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
    nodes += cat("  n", id.value(), " [label=", dot_quoted(node_label(graph, n, detail)), ", ", node_style(n), "];\n");
    ++count;
  }
  const bool large = count > kLargeDrawing;
  std::string out = cat("digraph ", dot_quoted({graph.name}), " {\n  rankdir=TB;\n");
  if (large) out += "  nslimit=1; nslimit1=1; mclimit=0.1; splines=line;\n";
  out += "  node [fontname=\"Helvetica\", fontsize=11];\n  edge [fontname=\"Helvetica\", fontsize=9, color=gray40];\n";
  if (large && detail == Detail::overview) return cat(out, dot_parts(graph, d.order, d.repeats), "}\n");
  return cat(out, nodes, frames(graph, d), edges, "}\n");
}

}  // namespace buda::graph
