// SPDX-License-Identifier: Apache-2.0
// Walks back from the values wanted to the values given, and copies what lies between.
#include <buda/graph/parts/cut.hpp>

#include <buda/base/spelling.hpp>
#include <buda/base/text.hpp>
#include <buda/graph/graph.hpp>
#include <buda/graph/parts/contents.hpp>
#include <buda/graph/tags/placement.hpp>

#include <algorithm>
#include <map>
#include <set>

namespace buda::graph {
namespace {

struct Wanted {
  std::string name;  // of the output
  Edge edge;
  const Node* output = nullptr;  // the graph's own output, whose attributes go along
};

class Cutter {
 public:
  explicit Cutter(const Graph& graph) : graph_(graph), out_(graph.name, graph.level) { out_.tags = graph.tags; }

  Result<Graph> run(const std::vector<std::string>& from, const std::vector<std::string>& to) {
    find_given(from);
    find_wanted(to);
    if (!failure_.empty()) return failure_;
    mark();
    for (std::size_t i = 0; i < given_.size(); ++i)
      if (!reached_.contains(given_[i]))
        failure_.add(
            input_error("GC003", graph_.node(given_[i].node).loc, cat("'", from[i], "': none of the requested values depends on it")));
    if (!failure_.empty()) return failure_;
    build();
    return std::move(out_);
  }

 private:
  Diagnostic unknown(const std::string& text, bool outputs_too) const {
    std::vector<std::string> names;
    for (NodeId id : graph_.ids())
      if (outputs_too || graph_.node(id).kind() != NodeKind::output) names.push_back(graph_.node(id).name());
    Diagnostic d = input_error("GC001", {}, cat("graph '", graph_.name, "' has no value '", text, "'"));
    if (auto near = nearest_word(text, names)) d.hint = cat("did you mean '", *near, "'?");
    return d;
  }

  // NODE or NODE:PORT; names may contain colons themselves, so the whole is tried first.
  std::optional<ValueRef> value(const std::string& text) const {
    std::string name = text;
    std::uint32_t port = 0;
    NodeId id = graph_.find(name);
    if (!id.valid()) {
      auto colon = text.rfind(':');
      auto number = colon == std::string::npos ? std::nullopt : parse_int(text.substr(colon + 1));
      if (!number || *number < 0 || *number > 1 << 20) return std::nullopt;
      id = graph_.find(text.substr(0, colon));
      port = static_cast<std::uint32_t>(*number);
    }
    if (!id.valid()) return std::nullopt;
    const auto& types = graph_.node(id).outputs;
    if (port != 0 && port >= types.size()) return std::nullopt;
    return ValueRef{id, port};
  }

  void find_given(const std::vector<std::string>& from) {
    for (const auto& text : from) {
      auto v = value(text);
      if (!v) {
        failure_.add(unknown(text, false));
      } else if (graph_.type(*v) == nullptr) {
        failure_.add(input_error("GC002", graph_.node(v->node).loc, cat("'", text, "' has no type, which an input needs")));
      } else if (!stop_.insert(*v).second) {
        failure_.add(input_error("GC004", {}, cat("'", text, "' is given twice")));
      }
      given_.push_back(v.value_or(ValueRef{}));
    }
  }

  void find_wanted(const std::vector<std::string>& to) {
    std::set<std::string> names;
    auto want = [&](Wanted w, const std::string& text) {
      if (!names.insert(w.name).second) failure_.add(input_error("GC004", {}, cat("'", text, "' is wanted twice")));
      wanted_.push_back(std::move(w));
    };
    for (const auto& text : to) {
      if (auto v = value(text)) {
        std::string name = graph_.node(v->node).name();
        want({v->port == 0 ? name : cat(name, '.', v->port), Edge(*v), nullptr}, text);
      } else if (NodeId id = graph_.find_output(text); id.valid()) {
        want({text, graph_.node(id).inputs().front(), &graph_.node(id)}, text);
      } else {
        failure_.add(unknown(text, true));
      }
    }
    if (!to.empty()) return;
    for (NodeId id : graph_.outputs()) want({graph_.node(id).name(), graph_.node(id).inputs().front(), &graph_.node(id)}, "");
  }

  // An input of the graph that is named stays what it is.
  bool ends_at(ValueRef v) const { return stop_.contains(v) && graph_.node(v.node).kind() != NodeKind::input; }

  void visit(ValueRef v, std::vector<NodeId>& stack) {
    if (stop_.contains(v)) reached_.insert(v);
    if (!ends_at(v) && graph_.contains(v.node) && needed_.insert(v.node).second) stack.push_back(v.node);
  }

  void mark() {
    std::vector<NodeId> stack;
    for (const auto& w : wanted_) visit(w.edge.source, stack);
    while (!stack.empty()) {
      NodeId id = stack.back();
      stack.pop_back();
      for (const auto& edge : graph_.node(id).inputs()) visit(edge.source, stack);
    }
  }

  Edge moved(const Edge& edge) const {
    if (auto it = new_input_.find(edge.source); it != new_input_.end()) return {ValueRef{it->second, 0}, edge.tms};
    auto it = copy_.find(edge.source.node);
    return {ValueRef{it == copy_.end() ? NodeId{} : it->second, edge.source.port}, edge.tms};
  }

  // At device level the host has to know the shape to push or pop: that of the value itself.
  void say_shape(Node& node, const ValueType& type) const {
    if (graph_.level == Level::device && !on_host(out_, node)) node.attrs["model_shape"] = type.shape.dims();
  }

  void build() {
    for (NodeId id : graph_.topological_order()) {
      if (!needed_.contains(id)) continue;
      const Node& n = graph_.node(id);
      std::vector<Edge> inputs;
      for (const auto& edge : n.inputs()) {
        if (ends_at(edge.source)) make_input(edge.source);
        inputs.push_back(moved(edge));
      }
      NodeId copy = out_.add(n.name(), n.op(), std::move(inputs));
      copy_[id] = copy;
      copy_contents(n, out_.node(copy));
    }
    for (const auto& w : wanted_) {
      if (ends_at(w.edge.source)) make_input(w.edge.source);
      NodeId id = out_.add(w.name, std::string(kOutputOp), {moved(w.edge)});
      if (w.output != nullptr) {
        copy_contents(*w.output, out_.node(id));
      } else if (auto type = graph_.type(w.edge)) {
        say_shape(out_.node(id), *type);
      }
    }
    std::vector<NodeId> order;
    for (NodeId id : graph_.inputs())
      if (auto it = copy_.find(id); it != copy_.end()) order.push_back(it->second);
    for (const ValueRef& v : given_)
      if (auto it = new_input_.find(v); it != new_input_.end()) order.push_back(it->second);
    out_.order_inputs(order);
  }

  void make_input(ValueRef v) {
    if (new_input_.contains(v)) return;
    const Node& n = graph_.node(v.node);
    std::string name = v.port == 0 ? n.name() : cat(n.name(), '.', v.port);
    // A node of which only one result is given is computed for the others, and keeps the name.
    if (needed_.contains(v.node)) name = out_.fresh_name(cat(name, ".given"));
    NodeId id = out_.add(name, std::string(kInputOp));
    Node& made = out_.node(id);
    made.outputs = {*graph_.type(v)};
    made.origins = n.origins;
    made.loc = n.loc;
    if (graph_.level == Level::device && on_host(n)) put_on_host(made);
    say_shape(made, made.outputs.front());
    new_input_[v] = id;
  }

  const Graph& graph_;
  Graph out_;
  Failure failure_;
  std::vector<ValueRef> given_;  // as `from` names them
  std::set<ValueRef> stop_, reached_;
  std::vector<Wanted> wanted_;
  std::set<NodeId> needed_;
  std::map<NodeId, NodeId> copy_;
  std::map<ValueRef, NodeId> new_input_;
};

}  // namespace

Result<Graph> cut(const Graph& graph, const std::vector<std::string>& from, const std::vector<std::string>& to) {
  return Cutter(graph).run(from, to);
}

}  // namespace buda::graph
