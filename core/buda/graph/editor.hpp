// SPDX-License-Identifier: Apache-2.0
// Rewriting a graph: new nodes get a name, provenance and tags from the node that they replace.
#pragma once

#include <buda/graph/graph.hpp>
#include <buda/tensor/fwd.hpp>

#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::graph {

// Made for one rewrite, which turns the node `basis` into others:
//
//   GraphEditor e(graph, gemm);
//   NodeId mm = e.add("matmul", "matmul", {x, w}, {type});     // called "fc1.matmul"
//   e.replace(gemm, mm);                                       // "fc1.matmul" becomes "fc1"
//
// ops::Builder works on top of it and derives the types.
class GraphEditor {
 public:
  GraphEditor(Graph& graph, NodeId basis) : graph_(&graph), basis_(basis) {}

  Graph& graph() { return *graph_; }
  const Graph& graph() const { return *graph_; }
  NodeId basis() const { return basis_; }

  // A node called "<basis>.<suffix>" with the origins, tags and place of the basis.
  NodeId add(std::string_view suffix, std::string op, std::vector<Edge> inputs, std::vector<ValueType> types, AttrMap attrs = {});
  NodeId add_constant(std::string_view suffix, Tensor tensor);

  // A node of one input and one result put on one edge: it takes over the edge's source and TMs, and the edge then comes from it.
  NodeId insert_on_edge(Use use, std::string_view suffix, std::string op, ValueType type, AttrMap attrs = {});

  // Uses of `old`'s results become uses of `by` (where old has several results, of by.node's results in their order), but for uses by
  // nodes that this editor added. If nobody uses `old` then, it is erased with all that it alone needed. The new node takes over the
  // old one's origins and, when this editor added it, its name.
  void replace(NodeId old, ValueRef by);

  // Origins of `from` are added to those of `to`, without repetitions: for a node that now does the work of two.
  void merge_origins(NodeId to, NodeId from);

  // Erases the node if nobody uses it, then its producers likewise. Model inputs and outputs stay.
  void erase_unused(NodeId id);

 private:
  Graph* graph_;
  NodeId basis_;
  std::vector<NodeId> added_;
};

// Erases all nodes from which no output can be reached; model inputs stay. Returns how many. Of a graph without cycles; O(n + e) but for
// its order.
std::size_t erase_dead_nodes(Graph& graph);

}  // namespace buda::graph

#pragma GCC visibility pop
