// SPDX-License-Identifier: Apache-2.0
// Taking apart and putting together.
#include <buda/passes/host/host_part.hpp>

#include <buda/base/text.hpp>
#include <buda/graph/parts/contents.hpp>
#include <buda/graph/tags/loopback.hpp>
#include <buda/graph/tags/placement.hpp>
#include <buda/graph/values/value.hpp>
#include <buda/ops/device/device_layout.hpp>
#include <buda/passes/lower/lowering_tags.hpp>

#include <algorithm>
#include <functional>

namespace buda::passes {

using graph::copy_contents;
using graph::Edge;
using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::NodeKind;
using graph::ValueRef;

std::vector<char> known_nodes(const Graph& graph) {
  std::vector<char> known(graph.id_bound(), 0);
  for (NodeId id : graph.topological_order()) {
    const Node& n = graph.node(id);
    known[id.index()] = n.has_value() || (n.is_op() && std::all_of(n.inputs().begin(), n.inputs().end(),
                                                                   [&](const Edge& e) { return known[e.source.node.index()] != 0; }));
  }
  return known;
}

bool wants_host(const Graph& graph) {
  std::vector<NodeId> ids = graph.ids();
  return std::any_of(ids.begin(), ids.end(), [&](NodeId id) { return graph::on_host(graph.node(id)); });
}

HostPart::HostPart(const Graph& whole)
    : whole_(whole),
      device_(whole.name, graph::Level::tensor),
      known_(known_nodes(whole)),
      host_(whole.id_bound(), 0),
      segment_(whole.id_bound(), 0),
      known_uses_(whole.id_bound()),
      copies_(whole.id_bound()) {
  device_.tags = whole.tags;
  find_partition();
  build();
}

// An op is where its tag says, but for known ones, which are wherever they are needed; an input is on the host when that uses it.
void HostPart::find_partition() {
  for (NodeId id : whole_.ids()) {
    const Node& n = whole_.node(id);
    if (known_[id.index()] != 0 || !graph::on_host(n)) continue;
    host_[id.index()] = 1;
    for (const Edge& edge : n.inputs())
      if (whole_.node(edge.source.node).kind() == NodeKind::input) host_[edge.source.node.index()] = 1;
  }
  const std::vector<NodeId> order = whole_.topological_order();
  find_segments(order);
  share_inputs();
  share_states();
  // An output gives what is on the host from there.
  for (NodeId id : whole_.outputs())
    if (host_[whole_.node(id).inputs()[0].source.node.index()] != 0) host_[id.index()] = 1;
  find_known_uses(order);
  for (NodeId id : order)
    if (host_[id.index()] == 0 && known_[id.index()] == 0 && whole_.node(id).kind() != NodeKind::input)
      segments_ = std::max(segments_, segment_[id.index()] + 1);
  idle_ = segments_ == 0;
  // Inputs that nobody uses.
  if (idle_)
    for (NodeId id : whole_.inputs()) host_[id.index()] = 1;
}

// As few as possible before each node.
void HostPart::find_segments(const std::vector<NodeId>& order) {
  for (NodeId id : order) {
    const Node& n = whole_.node(id);
    if (known_[id.index()] != 0) continue;
    std::int32_t& segment = segment_[id.index()];
    for (const Edge& edge : n.inputs()) {
      const std::size_t from = edge.source.node.index();
      if (known_[from] != 0) continue;
      const bool leaves = n.is_op() && host_[id.index()] != 0 && host_[from] == 0 && whole_.node(edge.source.node).is_op();
      segment = std::max(segment, segment_[from] + (leaves ? 1 : 0));
    }
  }
}

// Those of the device. An output that gives an input counts as one of the first.
std::set<std::int32_t> HostPart::segments_using(NodeId input) const {
  std::set<std::int32_t> out;
  for (const graph::Use& use : whole_.users(input))
    if (host_[use.node.index()] == 0) out.insert(segment_[use.node.index()]);
  return out;
}

// A queue is read in one segment.
void HostPart::share_inputs() {
  for (NodeId id : whole_.inputs())
    if (segments_using(id).size() > 1) host_[id.index()] = 1;
}

// What the host needs or makes of a state it keeps: an output that becomes an input is in the same partition, on the device in the same
// segment. (Several inputs may be one output: the second round tells those of a later one's partition.)
void HostPart::share_states() {
  std::vector<NodeId> twice = whole_.inputs();
  twice.insert(twice.end(), whole_.inputs().begin(), whole_.inputs().end());
  for (NodeId id : twice) {
    auto tag = whole_.node(id).tags.find(graph::kLoopback);
    NodeId output = tag == whole_.node(id).tags.end() ? NodeId() : whole_.find_output(tag->second);
    if (!output.valid()) continue;
    const std::size_t source = whole_.node(output).inputs()[0].source.node.index();
    bool host = host_[id.index()] != 0 || host_[output.index()] != 0 || host_[source] != 0;
    for (std::int32_t segment : segments_using(id)) host = host || segment != segment_[source];
    if (host) host_[id.index()] = host_[output.index()] = 1;
  }
}

void HostPart::find_known_uses(const std::vector<NodeId>& order) {
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    const std::size_t id = it->index();
    for (const Edge& edge : whole_.node(*it).inputs()) {
      const std::size_t from = edge.source.node.index();
      if (known_[from] == 0) continue;
      if (known_[id] != 0) {
        known_uses_[from].insert(known_uses_[id].begin(), known_uses_[id].end());
      } else if (host_[id] == 0) {
        known_uses_[from].insert(segment_[id]);
      }
    }
  }
}

std::string HostPart::fresh(const ValueRef& v, std::string_view suffix) {
  const std::string base = cat(whole_.node(v.node).name(), v.port == 0 ? "" : cat('.', v.port), '.', suffix);
  std::string name = base;
  for (int i = 1; whole_.find(name).valid() || whole_.find_output(name).valid() || crossing_names_.contains(name); ++i)
    name = cat(base, '.', i);
  crossing_names_.emplace(name, v.node);
  return name;
}

NodeId HostPart::copy_to_device(const Node& n, std::int32_t segment) {
  std::vector<Edge> inputs;
  for (const Edge& edge : n.inputs()) inputs.push_back(device_edge(edge, segment));
  const bool is_again = copies_[n.id().index()].valid();
  NodeId id = device_.add(is_again ? fresh(ValueRef(n.id()), cat("segment", segment)) : n.name(), n.op(), std::move(inputs));
  copy_contents(n, device_.node(id));
  device_.node(id).tags.erase(graph::kPlacement);  // of known nodes
  if (segments_ > 1 && n.is_op() && known_[n.id().index()] != 0) device_.node(id).tags[graph::kSegment] = cat(segment);
  if (!is_again) copies_[n.id().index()] = id;
  return id;
}

Edge HostPart::device_edge(const Edge& edge, std::int32_t segment) {
  const ValueRef v = edge.source;
  const Node& source = whole_.node(v.node);
  const bool is_known = known_[v.node.index()] != 0;
  if (is_known && source.is_op()) return {ValueRef(known_copies_.at({v.node, segment}), v.port), edge.tms};
  const bool passes = !is_known && !is_host(v) && source.is_op() && segment_[v.node.index()] != segment;
  if (!is_host(v) && !passes) return {ValueRef(copies_[v.node.index()], v.port), edge.tms};
  auto [found, is_new] = entries_.emplace(std::pair(v, segment), NodeId());
  if (is_new) {
    std::string name = fresh(v, graph::kToDevice);
    found->second = device_.add(name, std::string(graph::kInputOp));
    Node& made = device_.node(found->second);
    made.outputs = {*whole_.type(v)};
    made.origins = source.origins;
    made.loc = source.loc;
    if (source.tags.contains(kExact)) made.tags[kExact] = "";
    // Equal values of several segments are not the same.
    if (segments_ > 1) made.tags[graph::kSegment] = cat(segment);
    entering_.push_back({v, std::move(name)});
  }
  return {ValueRef(found->second), edge.tms};
}

void HostPart::build() {
  for (NodeId id : whole_.inputs())
    if (host_[id.index()] == 0) copy_to_device(whole_.node(id), 0);
  std::vector<NodeId> order = whole_.topological_order();
  for (NodeId id : order) {
    const Node& n = whole_.node(id);
    if (n.kind() == NodeKind::input || n.kind() == NodeKind::output || host_[id.index()] != 0) continue;
    if (known_[id.index()] == 0) {
      copy_to_device(n, segment_[id.index()]);
    } else if (n.is_op()) {
      for (std::int32_t segment : known_uses_[id.index()]) known_copies_[{id, segment}] = copy_to_device(n, segment);
    } else if (!known_uses_[id.index()].empty()) {
      copy_to_device(n, 0);
    }
  }
  for (NodeId id : whole_.outputs()) {
    if (host_[id.index()] == 0) copy_to_device(whole_.node(id), segment_[id.index()]);
  }
  build_leaving(order);
}

// What the host needs of the device, for itself or for other segments.
void HostPart::build_leaving(const std::vector<NodeId>& order) {
  std::set<ValueRef> seen;
  auto leave = [&](ValueRef v) {
    if (!seen.insert(v).second) return;
    const Node& source = whole_.node(v.node);
    std::string name = fresh(v, graph::kToHost);
    NodeId made = device_.add(name, std::string(graph::kOutputOp), {Edge(ValueRef(copies_[v.node.index()], v.port))});
    device_.node(made).origins = source.origins;
    device_.node(made).loc = source.loc;
    leaving_.push_back({v, std::move(name)});
  };
  for (NodeId id : order) {
    if (host_[id.index()] == 0) continue;
    for (const Edge& edge : whole_.node(id).inputs())
      if (!is_host(edge.source) && known_[edge.source.node.index()] == 0) leave(edge.source);
  }
  for (const Crossing& c : entering_)
    if (!is_host(c.value)) leave(c.value);
}

NodeId HostPart::origin(const Node& n) const {
  if (auto it = crossing_names_.find(n.name()); it != crossing_names_.end()) return it->second;
  return n.kind() == NodeKind::output ? whole_.find_output(n.name()) : whole_.find(n.name());
}

// Adds the host's nodes to the lowered graph.
class Joiner {
 public:
  Joiner(const HostPart& part, Graph lowered) : part_(part), whole_(part.whole_), out_(std::move(lowered)), copies_(whole_.id_bound()) {}

  Result<Graph> run() {
    for (const auto& c : part_.leaving_) BUDA_TRY(leave(c));
    for (NodeId id : whole_.topological_order())
      if (part_.host_[id.index()] != 0 && whole_.node(id).kind() != NodeKind::output) copy(whole_.node(id));
    for (const auto& c : part_.entering_) BUDA_TRY(enter(c));
    for (NodeId id : whole_.outputs()) {
      const Node& n = whole_.node(id);
      if (part_.host_[id.index()] == 0) continue;
      NodeId made = out_.add(n.name(), n.op(), {moved(n.inputs()[0])});
      copy_contents(n, out_.node(made));
      out_.node(made).tags.erase(graph::kPlacement);
    }
    BUDA_TRY(restore_order());
    return std::move(out_);
  }

 private:
  // An output of the device's part becomes an op that gives its value to the host.
  Result<void> leave(const HostPart::Crossing& c) {
    NodeId id = out_.find_output(c.name);
    if (!id.valid()) return internal_error(cat("the lowered graph has no output '", c.name, '\''));
    out_.set_op(id, std::string(graph::kToHost));
    Node& n = out_.node(id);
    n.outputs = {*whole_.type(c.value)};
    graph::put_on_host(n);
    leaving_[c.value] = id;
    return success();
  }

  Result<void> enter(const HostPart::Crossing& c) {
    NodeId id = out_.find(c.name);
    if (!id.valid()) return internal_error(cat("the lowered graph has no input '", c.name, '\''));
    out_.set_op(id, std::string(graph::kToDevice));
    out_.set_inputs(id, {moved(Edge(c.value))});
    return success();
  }

  // The value as the host has it.
  Edge moved(const Edge& edge) {
    const ValueRef v = edge.source;
    if (auto it = leaving_.find(v); it != leaving_.end()) return Edge(ValueRef(it->second));
    if (!copies_[v.node.index()].valid()) copy_known(v.node);
    return Edge(ValueRef(copies_[v.node.index()], v.port));
  }

  // Known nodes are computed in either partition; the device's ones keep their names.
  void copy_known(NodeId id) {
    std::vector<NodeId> pending{id};
    while (!pending.empty()) {
      const Node& n = whole_.node(pending.back());
      std::size_t before = pending.size();
      for (const Edge& edge : n.inputs())
        if (!copies_[edge.source.node.index()].valid()) pending.push_back(edge.source.node);
      if (pending.size() != before) continue;
      pending.pop_back();
      if (!copies_[n.id().index()].valid()) copy(n);
    }
  }

  void copy(const Node& n) {
    std::vector<Edge> inputs;
    for (const Edge& edge : n.inputs()) inputs.push_back(moved(edge));
    // A name that the lowering gave to one of its own.
    bool is_twice = part_.known_[n.id().index()] != 0 && !part_.known_uses_[n.id().index()].empty();
    if (NodeId other = out_.find(n.name()); other.valid() && !is_twice) out_.rename(other, out_.fresh_name(n.name()));
    NodeId id = out_.add(is_twice ? out_.fresh_name(cat(n.name(), ".host")) : n.name(), n.op(), std::move(inputs));
    copy_contents(n, out_.node(id));
    graph::put_on_host(out_.node(id));
    copies_[n.id().index()] = id;
  }

  Result<void> restore_order() {
    std::vector<NodeId> inputs, outputs;
    for (NodeId id : whole_.inputs()) inputs.push_back(out_.find(whole_.node(id).name()));
    for (NodeId id : whole_.outputs()) outputs.push_back(out_.find_output(whole_.node(id).name()));
    if (!out_.order_inputs(inputs) || !out_.order_outputs(outputs))
      return internal_error("inputs or outputs were lost between host and device");
    return success();
  }

  const HostPart& part_;
  const Graph& whole_;
  Graph out_;
  std::vector<NodeId> copies_;  // by id of the whole graph: the host's copy
  std::map<ValueRef, NodeId> leaving_;
};

Result<Graph> HostPart::join(Graph lowered) const { return Joiner(*this, std::move(lowered)).run(); }

}  // namespace buda::passes
