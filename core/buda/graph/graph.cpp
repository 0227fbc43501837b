// SPDX-License-Identifier: Apache-2.0
// The graph's indices: names, users and orders.
//
// Users. A node keeps an unordered list of the inputs that its results feed, and each input remembers its slot in that list, so that
// connecting and disconnecting take constant time: the last use moves into the freed slot. What the list's order is depends on the history
// of edits; users() sorts, so that what a pass does depends on the graph alone.
#include <buda/graph/graph.hpp>

#include <buda/base/text.hpp>

#include <algorithm>
#include <functional>
#include <queue>
#include <stdexcept>

namespace buda::graph {
namespace {

constexpr std::uint32_t kNoSlot = 0xffffffff;

NodeId id_at(std::size_t index) { return NodeId(static_cast<std::uint32_t>(index)); }

bool reorder(std::vector<NodeId>& current, const std::vector<NodeId>& order) {
  std::vector<NodeId> a = current, b = order;
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  if (a != b) return false;
  current = order;
  return true;
}

}  // namespace

Graph::Graph(std::string graph_name, Level graph_level) : name(std::move(graph_name)), level(graph_level) {}
Graph::Graph(const Graph&) = default;
Graph::Graph(Graph&&) noexcept = default;
Graph& Graph::operator=(const Graph&) = default;
Graph& Graph::operator=(Graph&&) noexcept = default;
Graph::~Graph() = default;

std::string_view level_name(Level level) { return level == Level::tensor ? "tensor" : "device"; }

void Graph::no_such_node(NodeId id) const {
  throw std::out_of_range(cat("graph '", name, "' has no node with id ", id.index(), "; its ids are below ", nodes_.places()));
}

NodeId Graph::find(std::string_view node_name) const { return names_.find(nodes_, node_name); }

NodeId Graph::find_output(std::string_view output_name) const { return output_names_.find(nodes_, output_name); }

std::vector<NodeId> Graph::ids() const {
  std::vector<NodeId> out;
  out.reserve(live_);
  for (std::size_t i = 0; i < nodes_.places(); ++i)
    if (nodes_[i] != nullptr) out.push_back(id_at(i));
  return out;
}

// Passes ask for the order again and again, and nodes are spread over memory: the nodes are read once, in the order in which they were
// made, into flat lists of users, and the walk stays in these.
// A sweep over the ids takes each node that is ready when the sweep comes to it; one that becomes ready after that waits among those
// earlier in it, which go first. Graphs are mostly in order already, and then nothing waits.
Graph::FoundOrder Graph::find_order() const {
  std::vector<std::uint32_t> missing(nodes_.places(), 0), first_user(nodes_.places() + 1, 0);
  bool in_order = true, dangling = false;
  // Of nodes to come: first the nodes themselves are fetched, then the inputs of those that are there.
  auto fetch_ahead = [this](std::size_t i) {
    constexpr std::size_t kNodesAhead = 24, kInputsAhead = 12;
    if (i + kNodesAhead < nodes_.places())
      __builtin_prefetch(nodes_[i + kNodesAhead] != nullptr ? &nodes_[i + kNodesAhead]->inputs_ : nullptr);
    if (i + kInputsAhead < nodes_.places() && nodes_[i + kInputsAhead] != nullptr)
      __builtin_prefetch(nodes_[i + kInputsAhead]->inputs_.data());
  };
  for (std::size_t i = 0; i < nodes_.places(); ++i) {
    fetch_ahead(i);
    if (nodes_[i] == nullptr) continue;
    for (const auto& edge : nodes_[i]->inputs_) {
      if (!contains(edge.source.node)) {
        dangling = true;
        continue;
      }
      ++missing[i];
      ++first_user[edge.source.node.index() + 1];
      in_order = in_order && edge.source.node.index() < i;
    }
  }
  if (in_order) return {ids(), !dangling};
  for (std::size_t i = 1; i < first_user.size(); ++i) first_user[i] += first_user[i - 1];
  std::vector<NodeId> users(first_user.back());
  std::vector<std::uint32_t> next = first_user;
  for (std::size_t i = 0; i < nodes_.places(); ++i) {
    fetch_ahead(i);
    if (nodes_[i] == nullptr) continue;
    for (const auto& edge : nodes_[i]->inputs_)
      if (contains(edge.source.node)) users[next[edge.source.node.index()]++] = id_at(i);
  }
  std::vector<NodeId> order;
  order.reserve(live_);
  std::priority_queue<NodeId, std::vector<NodeId>, std::greater<>> earlier;
  std::size_t at = 0;
  auto give = [&](NodeId id) {
    order.push_back(id);
    for (std::uint32_t i = first_user[id.index()]; i < first_user[id.index() + 1]; ++i)
      if (--missing[users[i].index()] == 0 && users[i].index() < at) earlier.push(users[i]);
  };
  auto give_those_behind = [&] {
    while (!earlier.empty()) {
      NodeId id = earlier.top();
      earlier.pop();
      give(id);
    }
  };
  for (; at < nodes_.places(); ++at) {
    give_those_behind();
    if (nodes_[at] != nullptr && missing[at] == 0) give(id_at(at));
  }
  give_those_behind();
  bool cyclic = order.size() < live_;
  if (cyclic)
    for (std::size_t i = 0; i < nodes_.places(); ++i)
      if (nodes_[i] != nullptr && missing[i] != 0) order.push_back(id_at(i));
  return {std::move(order), !dangling && !cyclic};
}

std::vector<NodeId> Graph::topological_order() const {
  std::vector<NodeId> kept;
  if (order_.get(kept)) {
    if (kept.size() != live_) std::erase_if(kept, [this](NodeId id) { return !contains(id); });
    return kept;
  }
  FoundOrder found = find_order();
  if (found.lasts) order_.keep(found.nodes);
  return std::move(found.nodes);
}

std::vector<Use> Graph::users(NodeId id) const {
  std::vector<Use> out = node(id).uses_;
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<Use> Graph::users(ValueRef value) const {
  std::vector<Use> out;
  for (const auto& use : node(value.node).uses_)
    if (node(use.node).inputs_[use.input].source.port == value.port) out.push_back(use);
  std::sort(out.begin(), out.end());
  return out;
}

const ValueType* Graph::type(ValueRef value) const {
  if (!contains(value.node)) return nullptr;
  const auto& outputs = node(value.node).outputs;
  return value.port < outputs.size() ? &outputs[value.port] : nullptr;
}

Result<ValueType> Graph::type(const Edge& edge) const {
  const ValueType* source = type(edge.source);
  if (source == nullptr) {
    if (!contains(edge.source.node)) return input_error("GR002", {}, "an input comes from a node that does not exist");
    return input_error("GR003", {},
                       cat("an input is result ", edge.source.port, " of '", node(edge.source.node).name(), "', which has ",
                           node(edge.source.node).outputs.size()));
  }
  ValueType out = *source;
  BUDA_ASSIGN(out.shape, shape_after(source->shape, edge.tms));
  return out;
}

bool Graph::name_taken(std::string_view candidate) const { return find(candidate).valid() || find_output(candidate).valid(); }

std::string Graph::fresh_name(std::string_view wanted) const {
  std::string base(wanted.empty() ? "node" : wanted);
  if (!name_taken(base)) return base;
  std::uint32_t& next = next_suffix_.of(base);
  for (;;) {
    std::string candidate = cat(base, '.', ++next);
    if (!name_taken(candidate)) return candidate;
  }
}

NodeId Graph::add(std::string node_name, std::string op, std::vector<Edge> inputs) {
  NodeId id(static_cast<NodeId::rep>(nodes_.places()));
  Node& n = nodes_.add();
  n.id_ = id;
  n.kind_ = kind_of_op(op);
  n.op_ = std::move(op);
  n.name_ = std::move(node_name);
  NameIndex& names = names_for(n.kind_);
  if (n.name_.empty() || !names.insert(nodes_, id)) {
    n.name_ = fresh_name(n.name_);
    names.insert(nodes_, id);
  }
  ++live_;
  enlist(n);
  // The largest id, and no user: it comes last.
  if (std::all_of(inputs.begin(), inputs.end(), [&](const Edge& edge) { return contains(edge.source.node) && edge.source.node != id; }))
    order_.append(id);
  else
    order_.drop();
  connect_all(n, std::move(inputs));
  return id;
}

bool Graph::rename(NodeId id, std::string new_name) {
  Node& n = node(id);
  if (new_name == n.name_) return true;
  NameIndex& names = names_for(n.kind_);
  if (new_name.empty() || names.find(nodes_, new_name).valid()) return false;
  names.erase(nodes_, id);
  n.name_ = std::move(new_name);
  names.insert(nodes_, id);
  return true;
}

void Graph::enlist(const Node& n) {
  if (n.kind_ == NodeKind::input) inputs_.push_back(n.id_);
  if (n.kind_ == NodeKind::output) outputs_.push_back(n.id_);
}

void Graph::delist(const Node& n) {
  if (n.kind_ == NodeKind::input) std::erase(inputs_, n.id_);
  if (n.kind_ == NodeKind::output) std::erase(outputs_, n.id_);
}

void Graph::set_op(NodeId id, std::string op) {
  Node& n = node(id);
  NodeKind kind = kind_of_op(op);
  n.op_ = std::move(op);
  if (kind == n.kind_) return;
  delist(n);
  names_for(n.kind_).erase(nodes_, id);
  n.kind_ = kind;
  NameIndex& names = names_for(kind);
  if (!names.insert(nodes_, id)) {
    n.name_ = fresh_name(n.name_);
    names.insert(nodes_, id);
  }
  enlist(n);
}

void Graph::connect(NodeId user, std::uint32_t input) {
  Node& n = node(user);
  NodeId source = n.inputs_[input].source.node;
  if (!contains(source)) {
    n.use_slots_[input] = kNoSlot;
    return;
  }
  auto& uses = node(source).uses_;
  n.use_slots_[input] = static_cast<std::uint32_t>(uses.size());
  uses.push_back({user, input});
}

void Graph::disconnect(NodeId user, std::uint32_t input) {
  Node& n = node(user);
  std::uint32_t slot = n.use_slots_[input];
  if (slot == kNoSlot) return;
  n.use_slots_[input] = kNoSlot;
  auto& uses = node(n.inputs_[input].source.node).uses_;
  Use moved = uses.back();
  uses.pop_back();
  if (slot == uses.size()) return;
  uses[slot] = moved;
  node(moved.node).use_slots_[moved.input] = slot;
}

void Graph::connect_all(Node& user, std::vector<Edge> inputs) {
  user.inputs_ = std::move(inputs);
  user.use_slots_.assign(user.inputs_.size(), kNoSlot);
  for (std::uint32_t i = 0; i < user.inputs_.size(); ++i) connect(user.id_, i);
}

void Graph::set_inputs(NodeId id, std::vector<Edge> inputs) {
  Node& n = node(id);
  order_.drop();
  for (std::uint32_t i = 0; i < n.inputs_.size(); ++i) disconnect(id, i);
  connect_all(n, std::move(inputs));
}

void Graph::set_input(NodeId id, std::uint32_t input, Edge edge) {
  Node& n = node(id);
  if (input >= n.inputs_.size()) return;
  if (edge.source.node != n.inputs_[input].source.node) order_.drop();
  disconnect(id, input);
  n.inputs_[input] = std::move(edge);
  connect(id, input);
}

void Graph::replace_uses(ValueRef from, ValueRef to) {
  if (from == to) return;
  if (from.node != to.node) order_.drop();
  for (const Use& use : users(from)) {
    disconnect(use.node, use.input);
    node(use.node).inputs_[use.input].source = to;
    connect(use.node, use.input);
  }
}

void Graph::erase(NodeId id) {
  Node& n = node(id);
  for (std::uint32_t i = 0; i < n.inputs_.size(); ++i) disconnect(id, i);
  for (const auto& use : n.uses_) {
    Node& user = node(use.node);
    user.inputs_[use.input].source = ValueRef();
    user.use_slots_[use.input] = kNoSlot;
  }
  if (!n.uses_.empty()) order_.drop();
  delist(n);
  names_for(n.kind_).erase(nodes_, id);
  nodes_.erase(id.index());
  --live_;
}

bool Graph::order_inputs(const std::vector<NodeId>& order) { return reorder(inputs_, order); }
bool Graph::order_outputs(const std::vector<NodeId>& order) { return reorder(outputs_, order); }

}  // namespace buda::graph
