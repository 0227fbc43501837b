// An order behind a lock.
#include <buda/graph/kept_order.hpp>

namespace buda::graph {

KeptOrder& KeptOrder::operator=(const KeptOrder& /*other*/) {
  drop();
  return *this;
}

KeptOrder& KeptOrder::operator=(KeptOrder&& other) noexcept {
  drop();
  other.drop();
  return *this;
}

std::optional<std::vector<NodeId>> KeptOrder::get() const {
  std::lock_guard lock(mutex_);
  return order_;
}

void KeptOrder::keep(const std::vector<NodeId>& order) {
  std::lock_guard lock(mutex_);
  order_ = order;
}

void KeptOrder::append(NodeId id) {
  if (order_) order_->push_back(id);
}

}  // namespace buda::graph
