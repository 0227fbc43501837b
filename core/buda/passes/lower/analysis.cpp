// SPDX-License-Identifier: Apache-2.0
// Analyses of a tensor graph before it is lowered.
#include <buda/passes/lower/analysis.hpp>

#include <buda/graph/tags/loopback.hpp>
#include <buda/graph/tags/training.hpp>
#include <buda/graph/values/value.hpp>
#include <buda/ops/device/device_layout.hpp>
#include <buda/ops/indexing/embedding.hpp>
#include <buda/passes/lower/data_movement.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace buda::passes {

using graph::Graph;
using graph::Node;
using graph::NodeId;

namespace {

// Whether an op reads the padding below the rows of an input.
bool reads_row_padding(const Graph& graph, const Node& n, std::uint32_t input) {
  if (!n.is_op()) return false;
  if (n.op() == "matmul" || n.op() == "int8_matmul" || n.op() == "depthwise") return input != 0;
  static constexpr std::array kReaders = {
      std::string_view("reduce_max"),  std::string_view("reduce_sum"),    std::string_view("reduce_avg"),
      std::string_view("transpose"),   std::string_view("sparse_matmul"), std::string_view("slice"),
      std::string_view("concatenate"), std::string_view("pad"),           std::string_view("gather")};
  if (std::find(kReaders.begin(), kReaders.end(), n.op()) != kReaders.end()) return true;
  auto in = ops::four_axes(graph.type(n.inputs()[input].source)->shape), out = ops::four_axes(n.outputs[0].shape);
  return !in || !out || (*in)[2] != (*out)[2] || (is_reshape(graph, n) && *in != *out);
}

// Whether two rearrangements of a value lead to the same axes on the device.
bool same_on_device(Rearrangement a, Rearrangement b, Batch batch) {
  a.reshape(axes_of(a.to(), batch));
  b.reshape(axes_of(b.to(), batch));
  return a == b;
}

// Whether manipulations of an edge do what a rearrangement does.
bool edges_can(const Rearrangement& how, Batch batch) {
  auto places = how.places(axes_of(how.from(), batch), axes_of(how.to(), batch));
  if (!places || places->from[0] != places->to[0]) return false;
  DeviceAxes from{{places->from[1], places->from[2], places->from[3]}}, to{{places->to[1], places->to[2], places->to[3]}};
  return manipulations(from, to, places->sizes).has_value();
}

// Whether one rearrangement of a value is made of another by nothing, by manipulations of an edge, or by putting its rows into other
// slices.
bool follows(const Rearrangement& how, const Rearrangement& from, Batch batch) {
  Rearrangement difference = from.inverse();
  if (!difference.append(how)) return false;
  const Shape before = axes_of(from.to(), batch), after = axes_of(how.to(), batch);
  return edges_can(difference, batch) || (difference.moves_nothing() && before[0] == after[0] && before[3] == after[3]);
}

// The rearrangements in which the model uses an input, those that are the same on the device once; nothing where an output or a chain that
// is not one rearrangement reads it.
std::optional<std::vector<Rearrangement>> uses_of(const Graph& graph, NodeId input, Batch batch) {
  std::vector<Rearrangement> uses;
  std::vector<NodeId> pending{input};
  while (!pending.empty()) {
    NodeId at = pending.back();
    pending.pop_back();
    for (const graph::Use& use : graph.users(at)) {
      const Node& user = graph.node(use.node);
      if (is_rearrangement(user)) {
        pending.push_back(use.node);
        continue;
      }
      Chain chain = chain_to(graph, graph::Edge(at));
      if (!user.is_op() || chain.root.source != graph::ValueRef(input) || !ops::four_axes(chain.how.to())) return std::nullopt;
      if (uses.empty() || !same_on_device(uses.front(), chain.how, batch)) uses.push_back(chain.how);
    }
  }
  return uses;
}

}  // namespace

bool only_looks_up(const Graph& graph, NodeId input, Batch batch) {
  const Node& n = graph.node(input);
  if (n.kind() != graph::NodeKind::input || !is_integer(n.outputs[0].dtype) || n.tags.contains(graph::kLoopback)) return false;
  if (!ops::four_axes(n.outputs[0].shape)) return false;
  const Shape four = axes_of(n.outputs[0].shape, batch);
  if (four[1] != 1 || four[2] != 1 || four[3] < 1 || four[3] > ops::kMaxIndices) return false;
  const auto users = graph.users(input);
  return !users.empty() && std::all_of(users.begin(), users.end(), [&](const graph::Use& use) {
    const Node& user = graph.node(use.node);
    if (user.op() != "gather" || use.input != 1) return false;
    const Node& table = graph.node(user.inputs()[0].source.node);
    const auto dim = user.attrs.find("dim");
    const bool by_rows = dim == user.attrs.end() || dim->second == graph::Attr(std::int64_t{0});
    return by_rows && table.has_value() && table.value && table.outputs[0].shape.rank() == 2 && is_float(table.outputs[0].dtype) &&
           user.outputs[0].shape.rank() <= 4;
  });
}

Result<std::set<NodeId>> state_nodes(const Graph& graph) {
  BUDA_ASSIGN(std::vector<graph::Loopback> found, graph::loopbacks(graph));
  std::set<NodeId> out;
  for (const graph::Loopback& l : found) {
    out.insert(l.input);
    out.insert(l.output);
  }
  return out;
}

std::vector<char> row_padding_readers(const Graph& graph, const std::set<NodeId>& state) {
  std::vector<char> out(graph.id_bound(), 0);
  std::vector<NodeId> order = graph.topological_order();
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    const Node& n = graph.node(*it);
    if (state.contains(*it)) out[it->index()] = 1;  // to be made zero
    for (std::uint32_t i = 0; i < n.inputs().size(); ++i)
      if (out[it->index()] != 0 || reads_row_padding(graph, n, i)) out[n.inputs()[i].source.node.index()] = 1;
  }
  return out;
}

namespace {

// The order in which the output of a training step's state is made: nothing where it is the model's, or an op reads the state in that one.
std::optional<Rearrangement> order_of_state(const Graph& graph, const graph::Loopback& l) {
  if (graph::training_of(graph.node(l.input)).empty()) return std::nullopt;
  const auto users = graph.users(l.input);
  const bool is_moved =
      std::all_of(users.begin(), users.end(), [&](const graph::Use& use) { return is_rearrangement(graph.node(use.node)); });
  if (!is_moved) return std::nullopt;
  const Chain chain = chain_to(graph, graph.node(l.output).inputs()[0]);
  // A reshape alone counts, too: a kernel of 1x1 has a tile for each of its numbers until it is a matrix.
  const auto made = ops::four_axes(chain.how.from()), kept = ops::four_axes(chain.how.to());
  const bool is_same = chain.how.moves_nothing() && made && kept && *made == *kept;
  if (is_same || !graph.node(chain.root.source.node).is_op()) return std::nullopt;
  return chain.how.inverse();
}

}  // namespace

std::map<NodeId, Rearrangement> state_orders(const Graph& graph) {
  std::map<NodeId, Rearrangement> out;
  const auto found = graph::loopbacks(graph);
  if (!found) return out;
  for (const graph::Loopback& l : *found) {
    const auto order = order_of_state(graph, l);
    if (!order) continue;
    out.emplace(l.input, *order);
    out.emplace(l.output, order->inverse());
  }
  return out;
}

std::map<NodeId, Rearrangement> host_views(const Graph& graph, const std::set<NodeId>& state, Batch batch) {
  std::map<NodeId, Rearrangement> out;
  for (NodeId id : graph.inputs()) {
    const Shape& model = graph.node(id).outputs[0].shape;
    if (state.contains(id) || !ops::four_axes(model)) continue;
    const auto uses = uses_of(graph, id, batch);
    if (!uses || uses->empty() || (uses->size() > 1 && model.volume() == 0)) continue;
    const auto basis = std::find_if(uses->begin(), uses->end(), [&](const Rearrangement& one) {
      return std::all_of(uses->begin(), uses->end(),
                         [&](const Rearrangement& other) { return &other == &one || follows(other, one, batch); });
    });
    if (basis == uses->end()) continue;
    const Rearrangement& use = *basis;
    if (use.moves_nothing() ? axes_of(use.to(), batch) != axes_of(model, batch) : !edges_can(use, batch)) out.emplace(id, use);
  }
  return out;
}

}  // namespace buda::passes
