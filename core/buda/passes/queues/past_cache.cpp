// SPDX-License-Identifier: Apache-2.0
// Finding and tying the two ends of a cache.
#include <buda/passes/queues/past_cache.hpp>

#include <buda/base/text.hpp>
#include <buda/graph/editor.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace buda::passes {
namespace {

using graph::Edge;
using graph::Graph;
using graph::Loopback;
using graph::Node;
using graph::NodeId;
using Dims = std::vector<std::int64_t>;

// How an output relates to an input that it is to become.
struct Fit {
  std::optional<std::size_t> longer;  // the axis along which the output is the longer one; nothing: they are equal
};

std::optional<Fit> fit(const Graph& graph, NodeId input, NodeId output) {
  const graph::ValueType& taken = graph.node(input).outputs[0];
  const graph::ValueType& given = *graph.type(graph.node(output).inputs()[0].source);
  if (taken.dtype != given.dtype || taken.shape.rank() != given.shape.rank()) return std::nullopt;
  Fit out;
  for (std::size_t i = 0; i < taken.shape.rank(); ++i) {
    if (taken.shape[i] == given.shape[i]) continue;
    if (given.shape[i] < taken.shape[i] || out.longer || graph.level != graph::Level::tensor) return std::nullopt;
    out.longer = i;
  }
  return out;
}

bool is_tied(const Node& input) { return input.tags.contains(graph::kLoopback); }

// Of which input a value is made up, besides what is new in it.
struct Root {
  NodeId input;  // invalid: of none
  bool several = false;
  bool grown = false;  // by a concatenation or an update in place
};

bool moves(std::string_view op) {
  static constexpr std::array kMoves = {std::string_view("reshape"),   std::string_view("transpose"), std::string_view("squeeze"),
                                        std::string_view("unsqueeze"), std::string_view("slice"),     std::string_view("cast")};
  return std::find(kMoves.begin(), kMoves.end(), op) != kMoves.end();
}

// The inputs of an op that enlarges or updates a value, among which the value may be.
std::pair<std::size_t, std::size_t> parts(const Node& n) {
  if (n.op() == "concatenate") return {0, n.inputs().size()};
  if (n.op() == "where") return {1, n.inputs().size()};
  if (n.op() == "scatter_elements" || n.op() == "scatter_nd") return {0, 1};
  return {0, 0};
}

Root root_of(const Node& n, const std::vector<Root>& roots) {
  if (n.kind() == graph::NodeKind::input) return {n.id()};
  if (moves(n.op())) return roots[n.inputs()[0].source.node.index()];
  auto [first, last] = parts(n);
  Root out;
  for (std::size_t i = first; i < last; ++i) {
    const Root& part = roots[n.inputs()[i].source.node.index()];
    out.several = out.several || part.several || (out.input.valid() && part.input.valid() && out.input != part.input);
    if (part.input.valid()) out.input = part.input;
  }
  out.grown = out.input.valid();
  return out;
}

// "past_key_values.0.key" and "present.0.key" are both "*.0.key"; empty where none of the words occurs.
std::string common_name(std::string name, const std::vector<std::string_view>& words) {
  for (std::string_view word : words) {
    auto at = name.find(word);
    if (at != std::string::npos) return name.replace(at, word.size(), "*");
  }
  return "";
}

class Finder {
 public:
  explicit Finder(const Graph& graph) : graph_(graph) {
    for (NodeId id : graph.inputs()) {
      auto tag = graph.node(id).tags.find(graph::kLoopback);
      if (tag != graph.node(id).tags.end()) taken_.insert(graph.find_output(tag->second));
    }
  }

  std::vector<Loopback> run() {
    by_flow();
    by_name();
    std::vector<Loopback> out;
    for (NodeId id : graph_.inputs())
      if (auto it = found_.find(id); it != found_.end()) out.push_back({id, it->second});
    return out;
  }

 private:
  bool is_free(NodeId input) const { return !is_tied(graph_.node(input)) && !found_.contains(input); }

  void by_flow() {
    std::vector<Root> roots(graph_.id_bound());
    for (NodeId id : graph_.topological_order()) roots[id.index()] = root_of(graph_.node(id), roots);
    std::map<NodeId, std::vector<NodeId>> candidates;  // outputs by input
    for (NodeId id : graph_.outputs()) {
      const Root& root = roots[graph_.node(id).inputs()[0].source.node.index()];
      if (root.grown && !root.several && is_free(root.input) && !taken_.contains(id) && fit(graph_, root.input, id))
        candidates[root.input].push_back(id);
    }
    for (const auto& [input, outputs] : candidates)
      if (outputs.size() == 1) pair(input, outputs.front());
  }

  void by_name() {
    static const std::vector<std::string_view> past = {"past_key_values", "past_key_value", "past"};
    static const std::vector<std::string_view> present = {"present_key_values", "present_key_value", "present"};
    std::map<std::string, NodeId> outputs;
    for (NodeId id : graph_.outputs())
      if (std::string name = common_name(graph_.node(id).name(), present); !name.empty() && !taken_.contains(id)) outputs.emplace(name, id);
    for (NodeId id : graph_.inputs()) {
      std::string name = common_name(graph_.node(id).name(), past);
      auto it = name.empty() ? outputs.end() : outputs.find(name);
      if (it != outputs.end() && is_free(id) && !taken_.contains(it->second) && fit(graph_, id, it->second)) pair(id, it->second);
    }
  }

  void pair(NodeId input, NodeId output) {
    found_.emplace(input, output);
    taken_.insert(output);
  }

  const Graph& graph_;
  std::map<NodeId, NodeId> found_;  // outputs by input
  std::set<NodeId> taken_;          // outputs
};

}  // namespace

Result<bool> loop_back(Graph& graph, NodeId input, NodeId output) {
  Node& in = graph.node(input);
  const Node& out = graph.node(output);
  auto refuse = [&](const std::string& why) {
    Diagnostic d =
        input_error("PA070", in.loc, cat("input '", in.name(), "' cannot be output '", out.name(), "' of the previous step: ", why));
    d.node = in.name();
    return d;
  };
  if (is_tied(in) && in.tags[graph::kLoopback] != out.name()) return refuse(cat("it is output '", in.tags[graph::kLoopback], "' already"));
  const graph::ValueType& taken = in.outputs[0];
  const graph::ValueType given = *graph.type(out.inputs()[0].source);
  auto how = fit(graph, input, output);
  if (!how)
    return refuse(cat("the input is ", taken.text(), " and the output ", given.text(),
                      "; they have to be equal, or the output may be longer along one axis"));
  in.tags[graph::kLoopback] = out.name();
  if (!how->longer) return false;
  const auto axis = static_cast<std::int64_t>(*how->longer);
  const std::int64_t length = given.shape[*how->longer], kept = taken.shape[*how->longer];
  graph::GraphEditor editor(graph, output);
  editor.insert_on_edge({output, 0}, "window", "slice", taken,
                        {{"dims", Dims{axis}}, {"starts", Dims{length - kept}}, {"stops", Dims{length}}, {"steps", Dims{1}}});
  return true;
}

std::vector<Loopback> find_past_caches(const Graph& graph) { return Finder(graph).run(); }

}  // namespace buda::passes
