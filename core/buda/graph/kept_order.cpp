// SPDX-License-Identifier: Apache-2.0
// An order behind a lock.
#include <buda/graph/kept_order.hpp>

namespace buda::graph {

KeptOrder::KeptOrder() = default;
KeptOrder::KeptOrder(const KeptOrder& /*other*/) {}
KeptOrder::KeptOrder(KeptOrder&& other) noexcept { other.drop(); }
KeptOrder::~KeptOrder() = default;

KeptOrder& KeptOrder::operator=(const KeptOrder& /*other*/) {
  drop();
  return *this;
}

KeptOrder& KeptOrder::operator=(KeptOrder&& other) noexcept {
  drop();
  other.drop();
  return *this;
}

bool KeptOrder::get(std::vector<NodeId>& order) const {
  std::lock_guard lock(mutex_);
  if (known_) order = order_;
  return known_;
}

void KeptOrder::keep(const std::vector<NodeId>& order) {
  std::lock_guard lock(mutex_);
  order_ = order;
  known_ = true;
}

void KeptOrder::append(NodeId id) {
  if (known_) order_.push_back(id);
}

}  // namespace buda::graph
