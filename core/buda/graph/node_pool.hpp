// The memory of a graph's nodes.
#pragma once

#include <buda/graph/node.hpp>

#include <array>
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
  NodePool() = default;
  NodePool(const NodePool& other);
  NodePool(NodePool&&) noexcept = default;
  NodePool& operator=(const NodePool& other) { return *this = NodePool(other); }
  NodePool& operator=(NodePool&&) noexcept = default;
  ~NodePool() = default;

  std::size_t places() const { return nodes_.size(); }
  // Null where the place is empty.
  const Node* operator[](std::size_t place) const { return nodes_[place]; }
  Node* operator[](std::size_t place) { return nodes_[place]; }

  // Fills the next place.
  Node& add(Node node = {});
  void erase(std::size_t place);

 private:
  static constexpr std::size_t kChunk = 64;
  using Chunk = std::array<std::optional<Node>, kChunk>;

  std::optional<Node>& slot(std::size_t place) { return (*chunks_[place / kChunk])[place % kChunk]; }
  void add_place();

  std::vector<std::unique_ptr<Chunk>> chunks_;
  std::vector<Node*> nodes_;  // into the chunks
};

}  // namespace buda::graph

#pragma GCC visibility pop
