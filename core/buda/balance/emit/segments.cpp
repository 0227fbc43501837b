// SPDX-License-Identifier: Apache-2.0
// Cutting mixed graphs.
#include <buda/balance/emit/segments.hpp>

#include <buda/balance/problem/phases.hpp>
#include <buda/base/text.hpp>
#include <buda/graph/parts/contents.hpp>
#include <buda/graph/tags/fixed_value.hpp>
#include <buda/graph/tags/input_range.hpp>
#include <buda/graph/tags/loopback.hpp>
#include <buda/graph/tags/mixed_rows.hpp>
#include <buda/graph/tags/placement.hpp>
#include <buda/graph/tags/training.hpp>
#include <buda/ops/device/device_layout.hpp>

#include <algorithm>
#include <numeric>
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

// Sets of nodes that have to be of one device segment; a node of the host is alone.
class Groups {
 public:
  explicit Groups(std::size_t nodes) : above_(nodes) { std::iota(above_.begin(), above_.end(), std::size_t{0}); }
  std::size_t of(NodeId id) {
    std::size_t at = id.index();
    while (above_[at] != at) at = above_[at] = above_[above_[at]];
    return at;
  }
  void join(NodeId a, NodeId b) { above_[of(b)] = of(a); }

 private:
  std::vector<std::size_t> above_;
};

class Splitter {
 public:
  explicit Splitter(Graph graph) : graph_(std::move(graph)), groups_(graph_.id_bound()) {}

  Result<Segments> run() {
    BUDA_TRY(find_groups());
    for (NodeId id : graph_.inputs()) out_.inputs.push_back(plan_tensor(graph_, graph_.node(id)));
    for (NodeId id : graph_.outputs()) out_.outputs.push_back(plan_tensor(graph_, graph_.node(id)));
    // Names of values that pass become names of outputs.
    for (NodeId id : graph_.ids()) {
      const Node& n = graph_.node(id);
      if (is_crossing(n) && graph_.find_output(n.name()).valid()) graph_.rename(id, graph_.fresh_name(n.name()));
    }
    BUDA_TRY(find_times());
    make_host();
    make_device();
    return std::move(out_);
  }

 private:
  static bool is_crossing(const Node& n) { return n.op() == graph::kToDevice || n.op() == graph::kToHost; }
  bool is_on_device(const Node& n) const { return !graph::on_host(graph_, n); }

  // ---- when nodes run

  Result<void> find_groups() {
    for (NodeId id : graph_.ids()) {
      const Node& n = graph_.node(id);
      if (!is_on_device(n)) continue;
      for (const Edge& edge : n.inputs()) {
        const Node& source = graph_.node(edge.source.node);
        if (is_on_device(source) && !source.has_value()) groups_.join(edge.source.node, id);
      }
    }
    BUDA_ASSIGN(auto states, graph::loopbacks(graph_));
    for (const graph::Loopback& state : states)
      if (is_on_device(graph_.node(state.input)) && is_on_device(graph_.node(state.output))) groups_.join(state.input, state.output);
    return success();
  }

  // Of a group of the device its segment; of a node of the host the number of segments that run before it: as few as possible.
  Result<void> find_times() {
    struct Next {
      std::size_t group;
      std::int32_t later;
    };
    std::vector<std::vector<Next>> next(graph_.id_bound());
    std::vector<std::size_t> missing(graph_.id_bound(), 0);
    for (NodeId id : graph_.ids()) {
      const Node& n = graph_.node(id);
      for (const Edge& edge : n.inputs()) {
        const std::size_t from = groups_.of(edge.source.node), to = groups_.of(id);
        if (from == to) continue;
        next[from].push_back({to, n.op() == graph::kToHost ? 1 : 0});
        ++missing[to];
      }
    }
    std::vector<std::int32_t> times(graph_.id_bound(), 0);
    std::vector<std::size_t> ready;
    for (NodeId id : graph_.ids())
      if (groups_.of(id) == id.index() && missing[id.index()] == 0) ready.push_back(id.index());
    std::vector<char> is_timed(graph_.id_bound(), 0);
    while (!ready.empty()) {
      const std::size_t group = ready.back();
      ready.pop_back();
      is_timed[group] = 1;
      for (const Next& n : next[group]) {
        times[n.group] = std::max(times[n.group], times[group] + n.later);
        if (--missing[n.group] == 0) ready.push_back(n.group);
      }
    }
    for (NodeId id : graph_.ids())
      if (is_timed[groups_.of(id)] == 0) return meets_itself();
    time_.assign(graph_.id_bound(), 0);
    for (NodeId id : graph_.ids()) {
      const Node& n = graph_.node(id);
      const std::int32_t time = time_[id.index()] = times[groups_.of(id)];
      if (is_on_device(n) && (n.is_op() || n.kind() == NodeKind::output))
        out_.device_segments = std::max(out_.device_segments, static_cast<std::size_t>(time) + 1);
    }
    return success();
  }

  // Some value of the host depends on a group to which it leads.
  Failure meets_itself() {
    for (NodeId id : graph_.ids()) {
      const Node& n = graph_.node(id);
      if (n.op() != graph::kToDevice || !depends_on(n.inputs()[0].source.node, groups_.of(id))) continue;
      Diagnostic d = input_error("BL024", n.loc,
                                 cat("node '", n.name(),
                                     "' reads on the device what the host computes from results of the same segment: ops between which "
                                     "values pass on the device run together"));
      d.node = n.name();
      d.hint = "the optimizer's pass cpu-fallback passes such values through the host";
      return d;
    }
    return internal_error("segments depend on each other in a circle");
  }

  bool depends_on(NodeId from, std::size_t group) {
    std::vector<char> met(graph_.id_bound(), 0);
    std::vector<NodeId> pending{from};
    while (!pending.empty()) {
      const NodeId id = pending.back();
      pending.pop_back();
      if (std::exchange(met[id.index()], 1) != 0) continue;
      if (groups_.of(id) == group) return true;
      for (const Edge& edge : graph_.node(id).inputs()) pending.push_back(edge.source.node);
    }
    return false;
  }

  // ---- the host's graphs

  struct Made {
    Graph graph;
    std::map<ValueRef, ValueRef> values;  // by the mixed graph's
  };

  Made& made_at(NodeId id) { return made_[static_cast<std::size_t>(time_[id.index()])]; }

  // The name under which a value of one graph reaches later ones, of which the first asks for it.
  const std::string& kept_name(ValueRef v) {
    auto [found, is_new] = kept_.emplace(v, "");
    if (!is_new) return found->second;
    found->second = graph_.fresh_name(cat(graph_.node(v.node).name(), v.port == 0 ? "" : cat('.', v.port), ".kept"));
    for (int i = 1; !names_.insert(found->second).second; ++i) found->second = cat(found->second, '.', i);
    give(made_at(v.node), found->second, v);
    return found->second;
  }

  // The host's part is a graph of its own, of which nothing says where it runs and what its next step is.
  static void copy_contents(const Node& from, Node& to) {
    graph::copy_contents(from, to);
    to.tags.erase(graph::kPlacement);
    to.tags.erase(graph::kLoopback);
    to.tags.erase(graph::kFixedValue);
    to.tags.erase(graph::kValueRange);
    to.tags.erase(graph::kIndexOf);
    to.tags.erase(graph::kTraining);
    to.tags.erase(graph::kRowsMixedBy);
  }

  ValueRef value_in(Made& made, ValueRef v) {
    if (auto it = made.values.find(v); it != made.values.end()) return it->second;
    const Node& n = graph_.node(v.node);
    ValueRef out;
    if (n.is_op()) {  // of the device, or of an earlier graph
      out = made.graph.add(n.op() == graph::kToHost ? n.name() : kept_name(v), std::string(graph::kInputOp));
      made.graph.node(out.node).outputs = {*graph_.type(v)};
      made.graph.node(out.node).origins = n.origins;
    } else {
      out = made.graph.add(n.name(), n.op());
      copy_contents(n, made.graph.node(out.node));
    }
    made.values.emplace(v, out);
    return out;
  }

  void give(Made& made, const std::string& name, ValueRef v) {
    made.graph.add(name, std::string(graph::kOutputOp), {Edge(value_in(made, v))});
  }

  void make_host() {
    for (std::size_t i = 0; i <= out_.device_segments; ++i) made_.push_back({Graph(graph_.name, graph::Level::tensor), {}});
    const std::vector<NodeId> order = graph_.topological_order();
    for (NodeId id : order) {
      const Node& n = graph_.node(id);
      if (is_crossing(n) || is_on_device(n) || !n.is_op()) continue;
      Made& made = made_at(id);
      std::vector<Edge> inputs;
      for (const Edge& edge : n.inputs()) inputs.emplace_back(value_in(made, edge.source));
      NodeId copy = made.graph.add(n.name(), n.op(), std::move(inputs));
      copy_contents(n, made.graph.node(copy));
      for (std::uint32_t port = 0; port < n.outputs.size(); ++port) made.values.emplace(ValueRef(id, port), ValueRef(copy, port));
    }
    for (NodeId id : graph_.outputs())
      if (!is_on_device(graph_.node(id))) give(made_at(id), graph_.node(id).name(), graph_.node(id).inputs()[0].source);
    for (NodeId id : order)
      if (is_crossing(graph_.node(id))) pass(id);
    for (Made& made : made_) out_.host.push_back(made.graph.outputs().empty() ? std::nullopt : std::optional<Graph>(std::move(made.graph)));
  }

  // A value from one side to the other.
  void pass(NodeId id) {
    const Node& n = graph_.node(id);
    const ValueRef value = n.inputs()[0].source;
    const Node& source = graph_.node(value.node);
    if (n.op() == graph::kToHost) {
      out_.leaving.emplace(n.name(), Segments::Passing{n.name(), static_cast<std::size_t>(time_[value.node.index()])});
      return;
    }
    const bool is_there = source.kind() == NodeKind::input || source.op() == graph::kToHost;
    out_.entering.emplace(n.name(), Segments::Passing{is_there ? source.name() : n.name(), static_cast<std::size_t>(time_[id.index()])});
    if (!is_there) give(made_at(value.node), n.name(), value);
  }

  // ---- the device's graph

  void make_device() {
    Graph& g = graph_;
    std::vector<NodeId> erased;
    for (NodeId id : g.ids()) {
      const Node& n = g.node(id);
      if (!is_on_device(n) && n.op() != graph::kToHost) {
        erased.push_back(id);
      } else if (n.is_op() && !is_crossing(n) && out_.device_segments > 1) {
        g.node(id).tags[graph::kSegment] = cat(time_[id.index()]);
      }
    }
    for (NodeId id : g.ids()) {
      if (g.node(id).op() == graph::kToDevice) {
        g.set_inputs(id, {});
        g.set_op(id, std::string(graph::kInputOp));
      } else if (g.node(id).op() == graph::kToHost) {
        g.set_op(id, std::string(graph::kOutputOp));
        g.node(id).outputs.clear();
        g.node(id).tags.erase(graph::kPlacement);
      }
    }
    for (NodeId id : erased) g.erase(id);
    if (!g.outputs().empty()) out_.device = std::move(g);
  }

  Graph graph_;
  Groups groups_;
  std::vector<std::int32_t> time_;  // by id
  std::vector<Made> made_;          // by time
  std::map<ValueRef, std::string> kept_;
  std::set<std::string> names_;
  Segments out_;
};

}  // namespace

host_plan::PlanTensor plan_tensor(const Graph& graph, const Node& n) {
  const graph::ValueType* type = n.kind() == NodeKind::output ? graph.type(n.inputs()[0].source) : &n.outputs[0];
  host_plan::PlanTensor out;
  out.name = n.name();
  const bool on_device = graph::level_of(graph, n) == graph::Level::device;
  out.dtype = std::string(dtype_name(on_device ? ops::border_type(n, type->dtype) : type->dtype));
  out.shape = (on_device ? ops::border_shapes(n, type->shape).model : type->shape).dims();
  if (auto tag = n.tags.find(graph::kLoopback); tag != n.tags.end()) out.loopback = tag->second;
  out.fixed_value = graph::fixed_value_of(n);
  out.value_range = graph::value_range_of(n);
  out.index_of = graph::index_reader_of(n);
  out.training = graph::training_of(n);
  out.rows_mixed_by = graph::rows_mixed_by(n);
  return out;
}

bool Segments::has_host() const {
  return std::any_of(host.begin(), host.end(), [](const auto& graph) { return graph.has_value(); });
}

namespace {

// The device's part of a training step runs in phases; what the host does stands before them and behind.
Result<Segments> in_phases(Segments s) {
  if (s.device_segments != 1) {
    Diagnostic d = input_error("BL056", {},
                               cat("the host computes something between ops of the device: of ", s.device_segments,
                                   " segments of the device none can be divided into phases"));
    d.hint = "autograd --form step makes a step of one batch, in which the phases run together";
    return d;
  }
  BUDA_TRY(mark_phases(*s.device));
  s.device_segments = kPhases;
  s.host.insert(s.host.begin() + 1, kPhases - 1, std::nullopt);
  for (auto& [name, passing] : s.leaving) passing.segment = kBackwardSegment;
  return s;
}

}  // namespace

Result<Segments> split_segments(Graph graph) {
  const bool has_phases = graph::runs_in_phases(graph);
  Segments out;
  if (graph::is_mixed(graph)) {
    BUDA_ASSIGN(out, Splitter(std::move(graph)).run());
  } else {
    out.device = std::move(graph);
    out.device_segments = 1;
    out.host.resize(2);
  }
  if (!has_phases || !out.device) return out;
  return in_phases(std::move(out));
}

std::string host_graph_file(const std::string& stem, std::size_t i, std::size_t device_segments) {
  if (i == 0) return stem + ".before.graph.json";
  if (i == device_segments) return stem + ".behind.graph.json";
  return cat(stem, ".between", i, ".graph.json");
}

void add_host_segments(host_plan::HostPlan& plan, const Segments& segments, const std::string& stem) {
  using host_plan::PlanTensor;
  using Passing = std::map<std::string, Segments::Passing>;
  std::vector<host_plan::Segment>& device = plan.segments;
  auto part = [&](std::vector<PlanTensor>& from, const Passing& passing, std::vector<PlanTensor> host_plan::Segment::*to) {
    for (PlanTensor& t : from)
      if (auto it = passing.find(t.name); it != passing.end()) {
        auto& list = device[it->second.segment].*to;
        list.push_back(std::exchange(t, {}));  // without a name: what is left out below
        list.back().name = it->second.name;
      }
  };
  part(plan.inputs, segments.entering, &host_plan::Segment::inputs);
  part(plan.outputs, segments.leaving, &host_plan::Segment::outputs);
  std::vector<host_plan::Segment> all;
  for (std::size_t i = 0; i < segments.host.size(); ++i) {
    if (segments.host[i]) all.push_back({host_plan::SegmentKind::host, host_graph_file(stem, i, segments.device_segments), {}, {}, {}});
    if (i < device.size()) all.push_back(std::move(device[i]));
  }
  device = std::move(all);

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
