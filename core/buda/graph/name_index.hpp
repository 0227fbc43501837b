// SPDX-License-Identifier: Apache-2.0
// Nodes by name, and the numbers that make names differ.
#pragma once

#include <buda/graph/node.hpp>
#include <buda/graph/node_pool.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::graph {

// Which node of a pool has a name. The names are read from the nodes, and the index holds half of a keyed hash and an id for each, in one
// row that is probed place after place: a name that is not there, which is what the makers of nodes mostly ask for, costs one miss of the
// cache, where a table of lists takes three. A node's name stays as it is while the node is in the index.
class NameIndex {
 public:
  // An invalid id when no node has the name.
  NodeId find(const NodePool& nodes, std::string_view name) const;
  // The node with the given id, under its name; false, and nothing is done, when another has it.
  bool insert(const NodePool& nodes, NodeId id);
  // The node must be in the index.
  void erase(const NodePool& nodes, NodeId id);

 private:
  struct Slot {
    std::uint32_t hash = 0;
    NodeId id;  // invalid where the slot is free
  };

  static std::uint32_t hash_of(std::string_view name);
  std::size_t home(const Slot& slot) const { return slot.hash & (slots_.size() - 1); }
  std::size_t after(std::size_t place) const { return (place + 1) & (slots_.size() - 1); }
  // The place of the name, or the free one where it would be. There are slots.
  std::size_t probe(const NodePool& nodes, std::string_view name, std::uint32_t hash) const;
  void resize(std::size_t slots);

  std::vector<Slot> slots_;  // a power of two, or none; at most half of them are taken
  std::size_t taken_ = 0;
};

// A number for each text, 0 at first. A copy has numbers of its own.
class Suffixes {
 public:
  Suffixes();
  Suffixes(const Suffixes& other);
  Suffixes(Suffixes&&) noexcept;
  Suffixes& operator=(const Suffixes& other);
  Suffixes& operator=(Suffixes&&) noexcept;
  ~Suffixes();

  std::uint32_t& of(const std::string& base);

 private:
  struct Table;
  std::unique_ptr<Table> table_;  // null while there are no numbers
};

}  // namespace buda::graph

#pragma GCC visibility pop
