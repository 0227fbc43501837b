// Cutting mixed graphs.
#include <buda/balance/emit/segments.hpp>

#include <buda/base/text.hpp>
#include <buda/graph/contents.hpp>
#include <buda/graph/loopback.hpp>
#include <buda/graph/placement.hpp>
#include <buda/ops/device/device_layout.hpp>

#include <algorithm>
#include <set>
#include <utility>

namespace buda::balance {
namespace {

using graph::Edge;
using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::NodeKind;
using graph::ValueRef;

host_plan::PlanTensor plan_tensor(const Graph& graph, const Node& n) {
  const graph::ValueType* type = n.kind() == NodeKind::output ? graph.type(n.inputs()[0].source) : &n.outputs[0];
  host_plan::PlanTensor out;
  out.name = n.name();
  const bool on_device = graph::level_of(graph, n) == graph::Level::device;
  out.dtype = std::string(dtype_name(on_device ? ops::border_type(n, type->dtype) : type->dtype));
  out.shape = (on_device ? ops::border_shapes(n, type->shape).model : type->shape).dims();
  if (auto tag = n.tags.find(graph::kLoopback); tag != n.tags.end()) out.loopback = tag->second;
  return out;
}

// When a node runs. Sources of the host are wherever they are used.
enum class When : std::uint8_t { anytime, before, device, behind };

class Splitter {
 public:
  explicit Splitter(Graph graph) : graph_(std::move(graph)), when_(graph_.id_bound(), When::anytime) {}

  Result<Segments> run() {
    BUDA_TRY(graph::loopbacks(graph_));
    for (NodeId id : graph_.inputs()) out_.inputs.push_back(plan_tensor(graph_, graph_.node(id)));
    for (NodeId id : graph_.outputs()) out_.outputs.push_back(plan_tensor(graph_, graph_.node(id)));
    // Names of values that pass become names of outputs.
    for (NodeId id : graph_.ids()) {
      const Node& n = graph_.node(id);
      if (is_crossing(n) && graph_.find_output(n.name()).valid()) graph_.rename(id, graph_.fresh_name(n.name()));
    }
    BUDA_TRY(find_times());
    out_.before = host_graph(When::before);
    out_.behind = host_graph(When::behind);
    make_device();
    return std::move(out_);
  }

 private:
  static bool is_crossing(const Node& n) { return n.op() == graph::kToDevice || n.op() == graph::kToHost; }

  Result<void> find_times() {
    Failure failure;
    for (NodeId id : graph_.topological_order()) {
      const Node& n = graph_.node(id);
      When& when = when_[id.index()];
      if (!graph::on_host(graph_, n)) {
        when = When::device;
        if (n.op() != graph::kToDevice || time_of(n) != When::behind) continue;
        Diagnostic d = input_error("BL024", n.loc,
                                   cat("node '", n.name(),
                                       "' reads on the device what the host computes from results of the device; such a graph does not "
                                       "have a single device segment"));
        d.node = n.name();
        d.hint = "the optimizer's pass cpu-fallback also moves the ops before or after such an op to the host";
        failure.add(std::move(d));
      } else if (n.op() == graph::kToHost) {
        when = When::behind;
      } else if (n.is_op() || n.kind() == NodeKind::output) {
        when = time_of(n);
      }
    }
    if (!failure.empty()) return failure;
    return success();
  }

  When time_of(const Node& n) const {
    bool behind =
        std::any_of(n.inputs().begin(), n.inputs().end(), [&](const Edge& e) { return when_[e.source.node.index()] == When::behind; });
    return behind ? When::behind : When::before;
  }

  // ---- the host's graphs

  // The name under which a value of `before` reaches `behind`.
  const std::string& kept_name(ValueRef v) {
    auto [found, is_new] = kept_.emplace(v, "");
    if (is_new) found->second = graph_.fresh_name(cat(graph_.node(v.node).name(), v.port == 0 ? "" : cat('.', v.port), ".kept"));
    for (int i = 1; is_new && !names_.insert(found->second).second; ++i) found->second = cat(found->second, '.', i);
    return found->second;
  }

  struct Made {
    Graph graph;
    std::map<ValueRef, ValueRef> values;  // by the mixed graph's
  };

  // The host's part is a graph of its own, of which nothing says where it runs and what its next step is.
  static void copy_contents(const Node& from, Node& to) {
    graph::copy_contents(from, to);
    to.tags.erase(graph::kPlacement);
    to.tags.erase(graph::kLoopback);
  }

  ValueRef value_in(Made& made, ValueRef v) {
    if (auto it = made.values.find(v); it != made.values.end()) return it->second;
    const Node& n = graph_.node(v.node);
    ValueRef out;
    if (n.is_op()) {  // of `before`, wanted in `behind`
      out = made.graph.add(kept_name(v), std::string(graph::kInputOp));
      made.graph.node(out.node).outputs = {*graph_.type(v)};
      made.graph.node(out.node).origins = n.origins;
    } else {
      out = made.graph.add(n.name(), n.op());
      copy_contents(n, made.graph.node(out.node));
    }
    made.values.emplace(v, out);
    return out;
  }

  std::optional<Graph> host_graph(When when) {
    Made made{Graph(graph_.name, graph::Level::tensor), {}};
    const std::vector<NodeId> order = graph_.topological_order();
    for (NodeId id : order) {
      const Node& n = graph_.node(id);
      if (when_[id.index()] != when || !n.is_op()) continue;
      if (n.op() == graph::kToHost) {
        NodeId input = made.graph.add(n.name(), std::string(graph::kInputOp));
        made.graph.node(input).outputs = n.outputs;
        made.graph.node(input).origins = n.origins;
        made.values.emplace(ValueRef(id), ValueRef(input));
        out_.leaving.emplace(n.name(), n.name());
        continue;
      }
      std::vector<Edge> inputs;
      for (const Edge& edge : n.inputs()) inputs.emplace_back(value_in(made, edge.source));
      NodeId copy = made.graph.add(n.name(), n.op(), std::move(inputs));
      copy_contents(n, made.graph.node(copy));
      for (std::uint32_t port = 0; port < n.outputs.size(); ++port) made.values.emplace(ValueRef(id, port), ValueRef(copy, port));
    }
    for (NodeId id : graph_.outputs())
      if (when_[id.index()] == when) give(made, graph_.node(id).name(), graph_.node(id).inputs()[0].source);
    if (when == When::before) give_values(made, order);
    if (made.graph.outputs().empty()) return std::nullopt;
    return std::move(made.graph);
  }

  void give(Made& made, const std::string& name, ValueRef v) {
    made.graph.add(name, std::string(graph::kOutputOp), {Edge(value_in(made, v))});
  }

  // What the device, and the host behind it, take from the host before it.
  void give_values(Made& made, const std::vector<NodeId>& order) {
    for (NodeId id : order) {
      const Node& n = graph_.node(id);
      if (n.op() == graph::kToDevice) {
        const Node& source = graph_.node(n.inputs()[0].source.node);
        bool is_given = source.kind() == NodeKind::input;
        out_.entering.emplace(n.name(), is_given ? source.name() : n.name());
        if (!is_given) give(made, n.name(), n.inputs()[0].source);
      } else if (when_[id.index()] == When::behind) {
        for (const Edge& edge : n.inputs()) {
          const ValueRef v = edge.source;
          if (!graph_.node(v.node).is_op() || when_[v.node.index()] != When::before || kept_.contains(v)) continue;
          give(made, kept_name(v), v);
        }
      }
    }
  }

  // ---- the device's graph

  void make_device() {
    Graph& g = graph_;
    for (NodeId id : g.ids()) {
      if (g.node(id).op() == graph::kToDevice) {
        g.set_inputs(id, {});
        g.set_op(id, std::string(graph::kInputOp));
      } else if (g.node(id).op() == graph::kToHost) {
        g.set_op(id, std::string(graph::kOutputOp));
        g.node(id).outputs.clear();
        g.node(id).tags.erase(graph::kPlacement);
        when_[id.index()] = When::device;
      }
    }
    for (NodeId id : g.ids())
      if (when_[id.index()] != When::device) g.erase(id);
    if (!g.outputs().empty()) out_.device = std::move(g);
  }

  Graph graph_;
  std::vector<When> when_;  // by id
  std::map<ValueRef, std::string> kept_;
  std::set<std::string> names_;
  Segments out_;
};

}  // namespace

Result<Segments> split_segments(Graph graph) {
  if (graph::is_mixed(graph)) return Splitter(std::move(graph)).run();
  Segments out;
  out.device = std::move(graph);
  return out;
}

void add_host_segments(host_plan::HostPlan& plan, const Segments& segments, const std::string& before_file,
                       const std::string& behind_file) {
  using host_plan::PlanTensor;
  std::vector<host_plan::Segment> all;
  if (segments.before) all.push_back({host_plan::SegmentKind::host, before_file, {}, {}, {}});
  for (host_plan::Segment& segment : plan.segments) {
    // Only one is of the device.
    auto part = [](std::vector<PlanTensor>& from, const std::map<std::string, std::string>& passing, std::vector<PlanTensor>& to) {
      for (PlanTensor& t : from)
        if (auto it = passing.find(t.name); it != passing.end()) {
          to.push_back(std::exchange(t, {}));  // without a name: what is left out below
          to.back().name = it->second;
        }
    };
    part(plan.inputs, segments.entering, segment.inputs);
    part(plan.outputs, segments.leaving, segment.outputs);
    all.push_back(std::move(segment));
  }
  if (segments.behind) all.push_back({host_plan::SegmentKind::host, behind_file, {}, {}, {}});
  plan.segments = std::move(all);

  auto ordered = [](const std::vector<PlanTensor>& model, std::vector<PlanTensor>& planned) {
    std::map<std::string, PlanTensor*> by_name;
    for (PlanTensor& t : planned)
      if (!t.name.empty()) by_name.emplace(t.name, &t);
    std::vector<PlanTensor> out;
    for (const PlanTensor& t : model) {
      auto it = by_name.find(t.name);
      out.push_back(it == by_name.end() ? t : *it->second);
    }
    planned = std::move(out);
  };
  ordered(segments.inputs, plan.inputs);
  ordered(segments.outputs, plan.outputs);
}

}  // namespace buda::balance
