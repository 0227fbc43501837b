// SPDX-License-Identifier: Apache-2.0
// Nodes that must be treated alike: those whose formats depend on one another, those that have one height of tiles. Internal to the passes
// module.
#pragma once

#include <buda/graph/node.hpp>

#include <cstddef>
#include <map>
#include <numeric>
#include <vector>

namespace buda::passes {

// A partition of nodes into classes, by id: union-find, nearly O(1) a step.
class NodeClasses {
 public:
  explicit NodeClasses(std::size_t id_bound) : parent_(id_bound) { std::iota(parent_.begin(), parent_.end(), std::size_t{0}); }

  void join(graph::NodeId a, graph::NodeId b) {
    std::size_t x = root(a.index()), y = root(b.index());
    // The smallest id stands for the class, so that nothing depends on the order of joins.
    parent_[x < y ? y : x] = x < y ? x : y;
  }

  // Classes in the order of their smallest ids, members in the order of `nodes`.
  std::map<std::size_t, std::vector<graph::NodeId>> classes(const std::vector<graph::NodeId>& nodes) {
    std::map<std::size_t, std::vector<graph::NodeId>> out;
    for (graph::NodeId id : nodes) out[root(id.index())].push_back(id);
    return out;
  }

 private:
  std::size_t root(std::size_t i) {
    while (parent_[i] != i) {
      parent_[i] = parent_[parent_[i]];
      i = parent_[i];
    }
    return i;
  }

  std::vector<std::size_t> parent_;
};

}  // namespace buda::passes
