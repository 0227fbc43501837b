// SPDX-License-Identifier: Apache-2.0
// The last answer to a question that passes ask again and again: the order of a graph's nodes.
#pragma once

#include <buda/graph/node_id.hpp>

#include <mutex>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::graph {

// Empty, or an order that holds but for nodes that were erased since. Several threads may ask and keep at a time, so that a graph that
// nobody changes can be read by all; changes are the graph's own, as all others. A copy starts empty, and a move leaves both empty.
class KeptOrder {
 public:
  KeptOrder();
  KeptOrder(const KeptOrder& /*other*/);
  KeptOrder(KeptOrder&& other) noexcept;
  KeptOrder& operator=(const KeptOrder& /*other*/);
  KeptOrder& operator=(KeptOrder&& other) noexcept;
  ~KeptOrder();

  // False where there is none.
  bool get(std::vector<NodeId>& order) const;
  void keep(const std::vector<NodeId>& order);

  // A node that comes after all others.
  void append(NodeId id);
  void drop() noexcept { known_ = false; }

 private:
  mutable std::mutex mutex_;
  bool known_ = false;
  std::vector<NodeId> order_;
};

}  // namespace buda::graph

#pragma GCC visibility pop
