// SPDX-License-Identifier: Apache-2.0
// The memory of a graph's nodes.
#pragma once

#include <buda/graph/node.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::graph {

// A row of places, each with a node or empty. Nodes that are made one after the other lie beside each other: passes walk all nodes again
// and again, mostly in the order of their making, and a walk over a graph that is larger than the caches is as fast as memory answers.
// A node never moves, and the place of one that was erased stays empty.
class NodePool {
 public:
  NodePool();
  NodePool(const NodePool& other);
  NodePool(NodePool&&) noexcept;
  NodePool& operator=(const NodePool& other);
  NodePool& operator=(NodePool&&) noexcept;
  ~NodePool();

  std::size_t places() const { return nodes_.size(); }
  // Null where the place is empty.
  const Node* operator[](std::size_t place) const { return nodes_[place]; }
  Node* operator[](std::size_t place) { return nodes_[place]; }

  // Fills the next place.
  Node& add(Node node = {});
  void erase(std::size_t place);

 private:
  struct Chunk;

  std::optional<Node>& slot(std::size_t place);
  void add_place();

  std::vector<std::unique_ptr<Chunk>> chunks_;
  std::vector<Node*> nodes_;  // into the chunks
};

}  // namespace buda::graph

#pragma GCC visibility pop
