// SPDX-License-Identifier: Apache-2.0
// Comparison of two graphs, node by node.
#include <buda/graph/check/diff.hpp>

#include <buda/base/text.hpp>
#include <buda/graph/graph.hpp>
#include <buda/graph/values/fused_body.hpp>
#include <buda/graph/values/value.hpp>

#include <algorithm>

namespace buda::graph {
namespace {

class Differ {
 public:
  Differ(const Graph& before, const Graph& after) : before_(before), after_(after) {}

  std::vector<std::string> run() {
    change("graph", "name", before_.name, after_.name);
    change("graph", "level", std::string(level_name(before_.level)), std::string(level_name(after_.level)));
    change("graph", "tags", text(before_.tags), text(after_.tags));
    change("graph", "inputs", text(before_, before_.inputs()), text(after_, after_.inputs()));
    change("graph", "outputs", text(before_, before_.outputs()), text(after_, after_.outputs()));
    for (NodeId id : before_.topological_order()) {
      const Node& n = before_.node(id);
      NodeId twin = twin_of(n, after_);
      if (twin.valid()) {
        compare(n, after_.node(twin));
      } else {
        found_.push_back(cat("- ", title(n), " (", n.op(), ')'));
      }
    }
    for (NodeId id : after_.topological_order()) {
      const Node& n = after_.node(id);
      if (!twin_of(n, before_).valid()) found_.push_back(cat("+ ", title(n), " (", n.op(), ')'));
    }
    return std::move(found_);
  }

 private:
  static std::string title(const Node& n) { return cat(n.kind() == NodeKind::output ? "output '" : "node '", n.name(), '\''); }
  static NodeId twin_of(const Node& n, const Graph& other) {
    return n.kind() == NodeKind::output ? other.find_output(n.name()) : other.find(n.name());
  }

  static std::string text(const std::map<std::string, std::string>& tags) {
    std::vector<std::string> parts;
    for (const auto& [key, value] : tags) parts.push_back(cat(key, '=', value));
    return list_text(parts);
  }
  static std::string text(const Graph& graph, const std::vector<NodeId>& ids) {
    std::vector<std::string> names;
    for (NodeId id : ids) names.push_back(graph.node(id).name());
    return list_text(names);
  }
  static std::string text(const Graph& graph, const Edge& edge) {
    std::string out = graph.contains(edge.source.node) ? cat('\'', graph.node(edge.source.node).name(), '\'') : "nothing";
    if (edge.source.port != 0) out += cat(" result ", edge.source.port);
    for (const auto& tm : edge.tms) out += cat(" | ", tm.text());
    return out;
  }
  static std::string text(const std::vector<ValueType>& types) {
    std::vector<std::string> parts;
    for (const auto& t : types) parts.push_back(t.text());
    return join(parts, ", ");
  }
  static std::string text(const std::vector<Origin>& origins) {
    std::vector<std::string> parts;
    for (const auto& o : origins) parts.push_back(cat(o.file, ':', o.node));
    return list_text(parts);
  }
  static std::string text(const Precision& p) {
    auto format = [](const std::optional<DataFormat>& f) { return f ? std::string(format_name(*f)) : "open"; };
    return cat("intermediate ", format(p.intermediate), ", accumulate ", format(p.accumulate), ", fidelity ",
               p.fidelity ? fidelity_name(*p.fidelity) : "open");
  }

  void change(const std::string& where, std::string_view what, const std::string& a, const std::string& b) {
    if (a != b) found_.push_back(cat("~ ", where, ' ', what, ": ", a, " -> ", b));
  }

  void compare(const Node& a, const Node& b) {
    std::string where = title(a);
    change(where, "op", a.op(), b.op());
    std::size_t inputs = std::max(a.inputs().size(), b.inputs().size());
    for (std::size_t i = 0; i < inputs; ++i)
      change(where, cat("input ", i), i < a.inputs().size() ? text(before_, a.inputs()[i]) : "none",
             i < b.inputs().size() ? text(after_, b.inputs()[i]) : "none");
    change(where, "type", text(a.outputs), text(b.outputs));
    compare_attrs(where, fused_attrs_for_file(a.attrs), fused_attrs_for_file(b.attrs));
    change(where, "precision", text(a.precision), text(b.precision));
    change(where, "tags", text(a.tags), text(b.tags));
    change(where, "origins", text(a.origins), text(b.origins));
    compare_values(where, a.value, b.value);
  }

  void compare_attrs(const std::string& where, const AttrMap& a, const AttrMap& b) {
    for (const auto& [name, attr] : a) {
      auto it = b.find(name);
      if (it == b.end() || !same_attr(attr, it->second))
        found_.push_back(cat("~ ", where, ' ', name, ": ", attr_text(attr), " -> ", it == b.end() ? "none" : attr_text(it->second)));
    }
    for (const auto& [name, attr] : b)
      if (a.find(name) == a.end()) found_.push_back(cat("~ ", where, ' ', name, ": none -> ", attr_text(attr)));
  }

  void compare_values(const std::string& where, const Boxed<Value>& a, const Boxed<Value>& b) {
    auto describe = [](const Boxed<Value>& v) { return v ? v->tensor.describe() : "none"; };
    if (describe(a) != describe(b)) {
      change(where, "value", describe(a), describe(b));
    } else if (a && a->tensor.memory().data() != b->tensor.memory().data() && !(a->tensor == b->tensor)) {
      found_.push_back(cat("~ ", where, " value: other elements"));
    }
  }

  const Graph& before_;
  const Graph& after_;
  std::vector<std::string> found_;
};

}  // namespace

std::vector<std::string> diff(const Graph& before, const Graph& after) { return Differ(before, after).run(); }

}  // namespace buda::graph
