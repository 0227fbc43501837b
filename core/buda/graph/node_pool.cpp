// SPDX-License-Identifier: Apache-2.0
// Places in chunks of equal size.
#include <buda/graph/node_pool.hpp>

#include <array>
#include <utility>

namespace buda::graph {
namespace {

constexpr std::size_t kNodesOfAChunk = 64;

}  // namespace

struct NodePool::Chunk {
  std::array<std::optional<Node>, kNodesOfAChunk> slots;
};

NodePool::NodePool() = default;
NodePool::NodePool(NodePool&&) noexcept = default;
NodePool& NodePool::operator=(const NodePool& other) { return *this = NodePool(other); }
NodePool& NodePool::operator=(NodePool&&) noexcept = default;
NodePool::~NodePool() = default;

std::optional<Node>& NodePool::slot(std::size_t place) { return chunks_[place / kNodesOfAChunk]->slots[place % kNodesOfAChunk]; }

NodePool::NodePool(const NodePool& other) {
  chunks_.reserve(other.chunks_.size());
  nodes_.reserve(other.nodes_.size());
  for (const Node* node : other.nodes_) {
    add_place();
    if (node != nullptr) nodes_.back() = &slot(places() - 1).emplace(*node);
  }
}

void NodePool::add_place() {
  if (places() % kNodesOfAChunk == 0) chunks_.push_back(std::make_unique<Chunk>());
  nodes_.push_back(nullptr);
}

Node& NodePool::add(Node node) {
  add_place();
  return *(nodes_.back() = &slot(places() - 1).emplace(std::move(node)));
}

void NodePool::erase(std::size_t place) {
  slot(place).reset();
  nodes_[place] = nullptr;
}

}  // namespace buda::graph
