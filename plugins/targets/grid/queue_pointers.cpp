// Pointers that go round.
#include "queue_pointers.hpp"

#include <algorithm>

namespace buda::grid {

std::int64_t QueuePointers::entries() const { return std::max(queue_->entries, 0); }

std::int64_t QueuePointers::wrapped(std::int64_t value) const {
  const std::int64_t range = 2 * entries();
  return range == 0 ? 0 : ((value % range) + range) % range;
}

}  // namespace buda::grid
