// SPDX-License-Identifier: Apache-2.0
// The graph: the one representation of a model from import to placement, at two levels.
//
// At tensor level ops are those of frameworks, on tensors of any rank. At device level ops are those of a netlist, values are 4-D and
// padded to whole tiles, and slices, stacks, transposes and broadcasts lie on edges. The structure is the same, and so are the file, the
// verifier and the tools.
#pragma once

#include <buda/graph/kept_order.hpp>
#include <buda/graph/level.hpp>
#include <buda/graph/name_index.hpp>
#include <buda/graph/node.hpp>
#include <buda/graph/node_pool.hpp>

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::graph {

// Node ids are given in the order of creation, never again after an erasure, and stay valid across all other changes; so do references to
// nodes. A graph may be wrong for a while (a dangling edge, a cycle): nothing here fails on it, and the verifier tells (verify.hpp).
//
// Names are unique among outputs, and unique among all other nodes: a model's output may be called like the op that computes it.
//
// Costs: adding, connecting and erasing take constant time for the name and for each edge; copies take linear time and share tensors.
class Graph {  // wide because it alone sees how nodes, names and uses are kept in step
 public:
  explicit Graph(std::string graph_name = "", Level graph_level = Level::tensor);
  // Out of line, since most who look into a graph copy none.
  Graph(const Graph&);
  Graph(Graph&&) noexcept;
  Graph& operator=(const Graph&);
  Graph& operator=(Graph&&) noexcept;
  ~Graph();

  std::string name;
  Level level = Level::tensor;
  std::map<std::string, std::string> tags;

  // ---- reading

  std::size_t size() const { return live_; }
  // One more than the largest id ever given: the size for tables indexed by id.
  std::size_t id_bound() const { return nodes_.places(); }
  bool contains(NodeId id) const { return id.index() < nodes_.places() && nodes_[id.index()] != nullptr; }
  // Throws std::out_of_range for an id that is not contained, which only a mistake of the program asks for; a plugin's is reported as its
  // own.
  const Node& node(NodeId id) const { return *nodes_[place(id)]; }
  Node& node(NodeId id) { return *nodes_[place(id)]; }

  // An invalid id when there is none. find() looks among all nodes but outputs, find_output() among outputs.
  NodeId find(std::string_view node_name) const;
  NodeId find_output(std::string_view output_name) const;

  // In the order in which the model takes and gives them.
  const std::vector<NodeId>& inputs() const { return inputs_; }
  const std::vector<NodeId>& outputs() const { return outputs_; }

  // All nodes, by id.
  std::vector<NodeId> ids() const;
  // Producers before consumers; among nodes that are ready the one with the smallest id comes first, so that a graph just read keeps its
  // file's order. Nodes on or after a cycle come last, by id. O((n + e) log n) after a change of edges, O(n) as long as nodes were only
  // added after the others or erased in front of nothing. A copy: the graph may be changed while walking it.
  std::vector<NodeId> topological_order() const;

  // The places where results of a node are used, ordered by node and input. A copy: the graph may be changed while walking it.
  std::vector<Use> users(NodeId id) const;
  std::vector<Use> users(ValueRef value) const;
  std::size_t use_count(NodeId id) const { return node(id).uses_.size(); }

  // The type of a value; null for a value that no node has.
  const ValueType* type(ValueRef value) const;
  // The type in which an edge arrives, after its TMs; an error when it cannot.
  Result<ValueType> type(const Edge& edge) const;

  // ---- changing

  // A name that is taken gets a suffix: fresh_name(name). `input` and `output` nodes go to the end of inputs() and outputs().
  NodeId add(std::string node_name, std::string op, std::vector<Edge> inputs = {});
  // A name that no node and no output has: `base`, or base.1, base.2, … An empty base counts as "node".
  std::string fresh_name(std::string_view base) const;
  // Gives a node the name; false, and nothing is done, when another has it.
  bool rename(NodeId id, std::string new_name);
  void set_op(NodeId id, std::string op);

  void set_inputs(NodeId id, std::vector<Edge> inputs);
  void set_input(NodeId id, std::uint32_t input, Edge edge);
  // Every use of `from` becomes one of `to`; TMs on the edges stay.
  void replace_uses(ValueRef from, ValueRef to);

  // Edges that come from the node are left dangling: its users are rewired or erased first.
  void erase(NodeId id);
  // The same nodes in another order; false, and nothing is done, when they are not the same.
  bool order_inputs(const std::vector<NodeId>& order);
  bool order_outputs(const std::vector<NodeId>& order);

 private:
  std::size_t place(NodeId id) const {
    if (!contains(id)) no_such_node(id);
    return id.index();
  }
  [[noreturn]] void no_such_node(NodeId id) const;
  NameIndex& names_for(NodeKind kind) { return kind == NodeKind::output ? output_names_ : names_; }
  bool name_taken(std::string_view candidate) const;
  void connect_all(Node& user, std::vector<Edge> inputs);

  // An order, and whether it is that of a graph without cycles and dangling edges, which lasts while nodes come and go at its end.
  struct FoundOrder {
    std::vector<NodeId> nodes;
    bool lasts = false;
  };
  FoundOrder find_order() const;
  void connect(NodeId user, std::uint32_t input);
  void disconnect(NodeId user, std::uint32_t input);
  void enlist(const Node& n);
  void delist(const Node& n);

  NodePool nodes_;  // by id
  std::size_t live_ = 0;
  NameIndex names_;  // of all nodes but outputs
  NameIndex output_names_;
  std::vector<NodeId> inputs_;
  std::vector<NodeId> outputs_;
  // Where fresh_name goes on, by base: keeps many nodes with equal bases linear.
  mutable Suffixes next_suffix_;
  mutable KeptOrder order_;
};

}  // namespace buda::graph

#pragma GCC visibility pop
