// SPDX-License-Identifier: Apache-2.0
// The walk from the seeds back to what is wanted.
#include <buda/autograd/differentiate.hpp>

#include <buda/autograd/rules/rules.hpp>
#include <buda/base/text.hpp>
#include <buda/graph/editor.hpp>
#include <buda/graph/graph.hpp>
#include <buda/io/process.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace buda::autograd {

using graph::Edge;
using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::ValueRef;

std::int64_t Backward::axis(std::string_view attr) {
  const std::int64_t dim = attrs().integer(attr);
  return dim < 0 ? dim + static_cast<std::int64_t>(in(0).shape().rank()) : dim;
}

namespace {

constexpr std::string_view kPrefix = "grad.";

// By id: nodes that depend on a wanted value through floating-point numbers, and for which that makes a difference.
std::vector<char> active_nodes(const Graph& graph, const std::vector<NodeId>& order, std::span<const ValueRef> wanted,
                               const OutsideRules& outside) {
  std::vector<char> active(graph.id_bound(), 0);
  for (const ValueRef& value : wanted) active[value.node.index()] = 1;
  for (NodeId id : order) {
    const Node& n = graph.node(id);
    if (!n.is_op() || active[id.index()] != 0) continue;
    const GradientRule* rule = find_rule(n.op());
    if (rule != nullptr && rule->kind == RuleKind::constant && !outside.contains(n.op())) continue;
    const auto passes = [&](const Edge& edge) { return active[edge.source.node.index()] != 0 && is_float(graph.type(edge.source)->dtype); };
    active[id.index()] = std::any_of(n.inputs().begin(), n.inputs().end(), passes) ? 1 : 0;
  }
  return active;
}

class Engine {
 public:
  Engine(Graph& graph, std::span<const Seed> seeds, std::span<const ValueRef> wanted, const OutsideRules& outside)
      : graph_(graph), seeds_(seeds), wanted_(wanted), outside_(outside) {}

  Result<std::vector<ValueRef>> run() {
    const std::vector<NodeId> order = graph_.topological_order();
    active_ = active_nodes(graph_, order, wanted_, outside_);
    refuse_active(order);
    for (const Seed& seed : seeds_) gradients_[seed.value] = seed.gradient;
    for (auto it = order.rbegin(); it != order.rend(); ++it)
      if (is_active(*it) && graph_.node(*it).is_op() && has_gradient(*it)) BUDA_TRY(visit(*it));
    if (!failure_.empty()) return failure_;
    std::vector<ValueRef> out;
    for (const ValueRef& value : wanted_) {
      auto found = gradients_.find(value);
      out.push_back(found == gradients_.end() ? ValueRef() : found->second);
      name_gradient(value);
    }
    return out;
  }

 private:
  bool is_active(NodeId id) const { return id.index() < active_.size() && active_[id.index()] != 0; }

  bool has_gradient(NodeId id) const {
    auto it = gradients_.lower_bound(ValueRef(id, 0));
    return it != gradients_.end() && it->first.node == id;
  }

  // Ops without a gradient between a wanted value and a seed, whatever type their results have: what is before them would not learn, and
  // nobody would see why.
  void refuse_active(const std::vector<NodeId>& order) {
    std::vector<char> reaches(graph_.id_bound(), 0);
    for (const Seed& seed : seeds_) reaches[seed.value.node.index()] = 1;
    for (auto it = order.rbegin(); it != order.rend(); ++it) {
      const Node& n = graph_.node(*it);
      const GradientRule* rule = n.is_op() ? find_rule(n.op()) : nullptr;
      const bool is_outside = outside_.contains(n.op());
      if (reaches[it->index()] == 0 || (rule != nullptr && rule->kind == RuleKind::constant && !is_outside)) continue;
      for (const Edge& edge : n.inputs()) reaches[edge.source.node.index()] = 1;
      if (rule != nullptr && rule->kind == RuleKind::refused && !is_outside && is_active(*it))
        failure_.add(on_the_way(n, input_error("AG002", n.loc, cat("op '", n.name(), "' (", n.op(), ") has no gradient: ", rule->reason))));
    }
  }

  Result<void> visit(NodeId id) {
    const Node& n = graph_.node(id);
    if (auto outside = outside_.find(n.op()); outside != outside_.end()) return visit(id, outside->second);
    const GradientRule* rule = find_rule(n.op());
    if (rule != nullptr && rule->kind == RuleKind::refused) return success();  // told already
    if (rule == nullptr || rule->kind != RuleKind::formula) return miss(n);
    const ops::OpDef* def = ops::standard_ops().find(graph::Level::tensor, n.op());
    if (def == nullptr) return miss(n);
    graph::GraphEditor editor(graph_, id);
    ops::Builder builder(editor);
    std::vector<Term> incoming;
    for (std::uint32_t port = 0; port < n.outputs.size(); ++port) {
      auto found = gradients_.find(ValueRef(id, port));
      name_gradient(ValueRef(id, port));
      incoming.push_back(found == gradients_.end() ? Term() : Term(builder, found->second));
    }
    if (!incoming[0].valid()) return miss(n);
    std::vector<bool> wanted;
    for (const Edge& edge : n.inputs()) wanted.push_back(is_active(edge.source.node) && is_float(graph_.type(edge.source)->dtype));
    const std::vector<Edge> inputs = n.inputs();
    Backward backward(builder, n, *def, std::move(incoming), std::move(wanted));
    rule->rule(backward);
    if (backward.refusal()) {
      failure_.add(at_node(n, *backward.refusal()));
      return success();
    }
    BUDA_TRY(builder.status());
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (backward.given()[i].valid()) add(inputs[i].source, backward.given()[i]);
    return builder.status();
  }

  Result<void> visit(NodeId id, const OutsideRule& outside) {
    const std::vector<Edge> inputs = graph_.node(id).inputs();
    std::vector<ValueRef> incoming;
    for (std::uint32_t port = 0; port < graph_.node(id).outputs.size(); ++port) {
      auto found = gradients_.find(ValueRef(id, port));
      name_gradient(ValueRef(id, port));
      incoming.push_back(found == gradients_.end() ? ValueRef() : found->second);
    }
    graph::GraphEditor editor(graph_, id);
    BUDA_ASSIGN(const std::vector<ValueRef> given, outside.rule(editor, id, incoming));
    ops::Builder builder(editor);
    const auto wrong = [&](std::string what) {
      const Node& n = graph_.node(id);
      return on_the_way(
          n, input_error("AG004", n.loc, cat("the gradient of op '", n.name(), "' (", n.op(), ") by ", outside.from, ' ', what)));
    };
    if (given.size() != inputs.size()) return wrong(cat("has ", given.size(), " parts for ", inputs.size(), " inputs"));
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const graph::ValueType type = *graph_.type(inputs[i].source);
      if (!given[i].valid() || !is_active(inputs[i].source.node) || !is_float(type.dtype)) continue;
      const Term part(builder, given[i]);
      const graph::ValueType* gradient = graph_.type(given[i]);
      if (gradient == nullptr || gradient->dtype != type.dtype || !sums_to(gradient->shape, type.shape))
        return wrong(cat("is ", gradient == nullptr ? "nothing" : gradient->text(), " for input ", i, ", which is ", type.text()));
      add(inputs[i].source, part);
    }
    return builder.status();
  }

  // Is it the shape, or what that is broadcast to?
  static bool sums_to(const Shape& from, const Shape& to) {
    if (from.rank() < to.rank()) return false;
    for (std::size_t i = 0; i < to.rank(); ++i)
      if (const std::int64_t size = from[from.rank() - to.rank() + i]; to[i] != 1 && to[i] != size) return false;
    return true;
  }

  void add(ValueRef value, const Term& gradient) {
    Term part = summed_to(gradient, graph_.type(value)->shape);
    auto [found, is_new] = gradients_.emplace(value, part.value());
    if (is_new) return;
    const Term before(part.builder(), found->second);
    found->second = (before + part).value();
  }

  // Once it is complete. A value that is the gradient of several nodes is called after the last of them to be complete.
  void name_gradient(ValueRef value) {
    auto found = gradients_.find(value);
    if (found == gradients_.end() || !found->second.valid() || found->second.node.index() < active_.size()) return;
    const std::string& name = graph_.node(found->second.node).name();
    if (name.starts_with(kPrefix)) return;
    graph_.rename(found->second.node,
                  graph_.fresh_name(cat(kPrefix, graph_.node(value.node).name(), value.port == 0 ? "" : cat('.', value.port))));
  }

  static Diagnostic at_node(const Node& n, Diagnostic d) {
    d.message = cat("the gradient of op '", n.name(), "' (", n.op(), ") cannot be computed: ", d.message);
    d.node = n.name();
    d.loc = n.loc;
    return d;
  }

  // Users on a shortest way to a seed.
  std::string way_to_seed(NodeId id) const {
    std::map<NodeId, NodeId> next;
    std::vector<NodeId> pending{id};
    next.emplace(id, NodeId());
    for (std::size_t i = 0; i < pending.size(); ++i) {
      const NodeId at = pending[i];
      if (std::any_of(seeds_.begin(), seeds_.end(), [&](const Seed& s) { return s.value.node == at; })) return text_of_way(at, next);
      for (const graph::Use& use : graph_.users(at))
        if (use.node.index() < active_.size() && next.emplace(use.node, at).second) pending.push_back(use.node);
    }
    return "";
  }
  std::string text_of_way(NodeId seed, const std::map<NodeId, NodeId>& next) const {
    std::vector<std::string> names;
    for (NodeId at = seed; at.valid(); at = next.at(at)) names.push_back(graph_.node(at).name());
    constexpr std::size_t kMaxNamed = 8;
    if (names.size() > kMaxNamed) names.erase(names.begin() + kMaxNamed / 2, names.end() - kMaxNamed / 2 + 1);
    if (names.size() == kMaxNamed - 1) names.insert(names.begin() + kMaxNamed / 2, "...");
    return join(names, " <- ");
  }

  // Names of the wanted values that the node depends on.
  std::vector<std::string> wanted_before(NodeId id) const {
    std::set<NodeId> met{id};
    std::vector<NodeId> pending{id};
    while (!pending.empty()) {
      const NodeId at = pending.back();
      pending.pop_back();
      for (const Edge& edge : graph_.node(at).inputs())
        if (is_active(edge.source.node) && met.insert(edge.source.node).second) pending.push_back(edge.source.node);
    }
    std::vector<std::string> out;
    for (const ValueRef& value : wanted_)
      if (met.contains(value.node)) out.push_back(graph_.node(value.node).name());
    return out;
  }

  Result<void> miss(const Node& n) {
    const GradientRule* rule = find_rule(n.op());
    const bool decomposed = rule != nullptr && rule->kind == RuleKind::decomposed;
    failure_.add(
        on_the_way(n, input_error("AG001", n.loc,
                                  cat("op '", n.name(), "' (", n.op(), ") has no gradient rule",
                                      decomposed ? " of its own, and none of the decompositions that are loaded serves it" : ""))));
    return success();
  }

  Diagnostic on_the_way(const Node& n, Diagnostic d) const {
    d.node = n.name();
    d.notes.push_back({{}, cat("the loss depends on it: ", way_to_seed(n.id()))});
    if (const std::string names = join(wanted_before(n.id()), "|"); !names.empty())
      d.hint = cat(io::shell_line({"--frozen", cat("^(", names, ")$")}), " leaves the parameters before it as they are");
    return d;
  }

  Graph& graph_;
  std::span<const Seed> seeds_;
  std::span<const ValueRef> wanted_;
  const OutsideRules& outside_;
  std::vector<char> active_;  // by id of a node that was there before
  std::map<ValueRef, ValueRef> gradients_;
  Failure failure_;
};

}  // namespace

Result<void> decompose_for_gradients(Graph& graph, std::span<const ValueRef> wanted, const DecomposeNodes& decompose,
                                     const OutsideRules& outside) {
  std::set<NodeId> before;
  while (true) {
    const std::vector<NodeId> order = graph.topological_order();
    const std::vector<char> active = active_nodes(graph, order, wanted, outside);
    std::set<NodeId> without;
    for (NodeId id : order) {
      if (active[id.index()] == 0 || !graph.node(id).is_op() || outside.contains(graph.node(id).op())) continue;
      const GradientRule* rule = find_rule(graph.node(id).op());
      if (rule == nullptr || rule->kind == RuleKind::decomposed) without.insert(id);
    }
    if (without.empty() || without == before) return success();
    BUDA_TRY(decompose(graph, without));
    before = std::move(without);
  }
}

Result<std::vector<ValueRef>> differentiate(Graph& graph, std::span<const Seed> seeds, std::span<const ValueRef> wanted,
                                            const OutsideRules& outside) {
  return Engine(graph, seeds, wanted, outside).run();
}

}  // namespace buda::autograd
