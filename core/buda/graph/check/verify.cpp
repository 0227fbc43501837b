// SPDX-License-Identifier: Apache-2.0
// The structural checks of a graph.
#include <buda/graph/check/verify.hpp>

#include <buda/base/text.hpp>
#include <buda/graph/graph.hpp>
#include <buda/graph/tags/placement.hpp>
#include <buda/graph/values/value.hpp>

namespace buda::graph {
namespace {

class Verifier {
 public:
  Verifier(const Graph& graph, OpTypes op_types) : graph_(graph), op_types_(op_types) {}

  std::vector<Diagnostic> run() {
    std::vector<NodeId> order = graph_.topological_order();
    for (NodeId id : order) check(graph_.node(id));
    check_cycles(order);
    if (graph_.outputs().empty()) found_.push_back(input_error("GR009", {}, cat("the graph '", graph_.name, "' has no output")));
    return std::move(found_);
  }

 private:
  bool is_device(const Node& n) const { return level_of(graph_, n) == Level::device; }

  void report(const Node& n, std::string code, std::string message, std::string hint = "") {
    Diagnostic d = input_error(std::move(code), n.loc, cat(n.op() == kOutputOp ? "output '" : "node '", n.name(), "': ", message));
    d.node = n.name();
    d.hint = std::move(hint);
    found_.push_back(std::move(d));
  }

  void check(const Node& n) {
    if (n.name().empty() || !is_valid_utf8(n.name())) report(n, "GR001", "a name must be UTF-8 text that is not empty");
    if (n.op().empty()) report(n, "GR001", "it has no op");
    for (std::size_t i = 0; i < n.inputs().size(); ++i) check_edge(n, i);
    check_arity(n);
    for (std::size_t i = 0; i < n.outputs.size(); ++i) check_type(n, n.outputs[i], n.outputs.size() == 1 ? "its type" : cat("type ", i));
    check_value(n);
  }

  void check_edge(const Node& n, std::size_t i) {
    const Edge& edge = n.inputs()[i];
    if (!graph_.contains(edge.source.node)) {
      report(n, "GR002", cat("input ", i, " comes from a node that does not exist"));
      return;
    }
    const Node& source = graph_.node(edge.source.node);
    if (source.kind() == NodeKind::output) {
      report(n, "GR002", cat("input ", i, " comes from the model's output '", source.name(), "', which has no result"));
      return;
    }
    // A source without a type that needs one is told of itself (GR008).
    bool unknown = source.outputs.empty() && (!source.is_op() || op_types_ == OpTypes::optional);
    if (!unknown && edge.source.port >= source.outputs.size()) {
      report(n, "GR003",
             cat("input ", i, " is result ", edge.source.port, " of '", source.name(), "', which has ", source.outputs.size(),
                 source.outputs.size() == 1 ? " result" : " results"));
      return;
    }
    check_side(n, i, source);
    if (edge.tms.empty()) return;
    if (graph_.level == Level::tensor || on_host(graph_, n)) {
      report(n, "GR011",
             cat("input ", i, " has the manipulation '", edge.tms.front().text(), "' on its edge, which is legal at device level only"));
    } else if (!unknown) {
      auto type = graph_.type(edge);
      if (!type) report(n, "GR010", cat("input ", i, " from '", source.name(), "': ", type.failure().diagnostics().front().message));
    }
  }

  // In a mixed graph values change between host and device by to_device and to_host only.
  void check_side(const Node& n, std::size_t i, const Node& source) {
    if (graph_.level != Level::device || n.kind() == NodeKind::output) return;
    const bool crosses = n.op() == kToDevice || n.op() == kToHost;
    if ((on_host(source) == on_host(n)) != crosses) return;
    report(n, "GR013",
           cat("it is on the ", on_host(n) ? "host" : "device", " and takes input ", i, " from '", source.name(), "' on the ",
               on_host(source) ? "host" : "device"),
           crosses ? cat(n.op(), " takes a value from the other partition")
                   : cat("put a ", on_host(n) ? kToHost : kToDevice, " between them"));
  }

  void check_arity(const Node& n) {
    switch (n.kind()) {
      case NodeKind::output:
        if (n.inputs().size() != 1) report(n, "GR005", cat("an output has one input, not ", n.inputs().size()));
        if (!n.outputs.empty()) report(n, "GR005", "an output has no types of its own; its input's type is what counts");
        break;
      case NodeKind::op:
        if (n.outputs.empty() && op_types_ == OpTypes::required) report(n, "GR008", "the types of its results are not known");
        break;
      default:
        if (!n.inputs().empty()) report(n, "GR005", cat("'", n.op(), "' nodes have no inputs, and this has ", n.inputs().size()));
        if (n.outputs.size() != 1)
          report(n, "GR008", cat("'", n.op(), "' nodes have one type, and this has ", n.outputs.empty() ? "none" : cat(n.outputs.size())));
    }
  }

  void check_type(const Node& n, const ValueType& type, const std::string& what) {
    if (type.shape.rank() > kMaxAxes) {
      report(n, "GR012", cat(what, " has ", type.shape.rank(), " axes; at most ", kMaxAxes, " are allowed"));
    } else if (!tensor_bytes(type.dtype, type.shape)) {
      report(n, "GR012", cat(what, ' ', type.text(), " is impossible: sizes must not be negative, and all bytes must fit in 63 bits"));
    } else if (is_device(n)) {
      check_device_type(n, type, what);
    } else if (type.format) {
      report(n, "GR012", cat(what, ' ', type.text(), " has a data format, which is legal at device level only"));
    }
  }

  void check_device_type(const Node& n, const ValueType& type, const std::string& what) {
    const Shape& s = type.shape;
    if (s.rank() != 4) {
      report(n, "GR012", cat(what, ' ', type.text(), " must have the four axes (w, z, r, c) at device level"));
    } else if (s[0] < 1 || s[1] < 1 || s[2] < 1 || s[3] < 1 || s[2] % kTileSide != 0 || s[3] % kTileSide != 0) {
      report(n, "GR012", cat(what, ' ', type.text(), " must consist of whole tiles at device level: r and c are multiples of ", kTileSide));
    }
  }

  void check_value(const Node& n) {
    const bool has_first_value = n.kind() == NodeKind::input && n.value;
    if (!n.has_value() && !has_first_value) {
      if (n.value) report(n, "GR006", cat("only parameters, constants and inputs (their first value) have a value, not '", n.op(), "'"));
      return;
    }
    if (!n.value) {
      report(n, "GR006", cat("the ", n.op(), " has no value"));
      return;
    }
    if (n.outputs.size() != 1) return;
    const Tensor& t = n.value->tensor;
    const ValueType& type = n.outputs[0];
    // At device level the value keeps the model's shape and kind of floats, and the type is the padded one (ops/device/device_layout.hpp).
    bool fits = !is_device(n) ? t.dtype() == type.dtype && t.shape() == type.shape
                              : t.dtype() == type.dtype || (is_float(t.dtype()) && is_float(type.dtype));
    if (!fits) report(n, "GR007", cat("its value is ", t.describe(), ", but its type says ", type.text()));
  }

  // Nodes that topological_order() could not place form its end: from the first one with a producer at its own place or later. Walking
  // from producer to producer among them must run in a cycle; every cycle found is reported once.
  void check_cycles(const std::vector<NodeId>& order) {
    std::vector<std::size_t> place(graph_.id_bound(), 0);
    for (std::size_t i = 0; i < order.size(); ++i) place[order[i].index()] = i;
    auto stuck_producer = [&](NodeId id, std::size_t from) {
      for (const auto& edge : graph_.node(id).inputs())
        if (graph_.contains(edge.source.node) && place[edge.source.node.index()] >= from) return edge.source.node;
      return NodeId();
    };
    std::size_t first = 0;
    while (first < order.size() && !stuck_producer(order[first], first).valid()) ++first;
    std::vector<std::size_t> walk_of(graph_.id_bound(), 0);  // 0: not visited
    for (std::size_t start = first; start < order.size(); ++start) {
      std::vector<NodeId> walk;
      NodeId id = order[start];
      while (id.valid() && walk_of[id.index()] == 0) {
        walk_of[id.index()] = start + 1;
        walk.push_back(id);
        id = stuck_producer(id, first);
      }
      if (id.valid() && walk_of[id.index()] == start + 1) report_cycle(walk, id);
    }
  }

  void report_cycle(const std::vector<NodeId>& walk, NodeId entry) {
    constexpr std::size_t kMaxNamed = 8;
    std::vector<std::string> names;
    bool inside = false;
    for (NodeId id : walk) {
      inside = inside || id == entry;
      if (inside && id != entry && names.size() < kMaxNamed) names.push_back(cat('\'', graph_.node(id).name(), '\''));
    }
    if (names.size() == kMaxNamed) names.back() = "...";
    report(graph_.node(entry), "GR004", names.empty() ? "it is its own input" : cat("it depends on itself, through ", join(names, ", ")));
  }

  const Graph& graph_;
  OpTypes op_types_;
  std::vector<Diagnostic> found_;
};

}  // namespace

std::vector<Diagnostic> verify(const Graph& graph, OpTypes op_types) { return Verifier(graph, op_types).run(); }

}  // namespace buda::graph
