// SPDX-License-Identifier: Apache-2.0
// Pointers that go round.
#include <buda/timed/queue_pointers.hpp>

#include <algorithm>

namespace buda::timed {

std::int64_t QueuePointers::entries() const { return std::max(queue_->entries, 0); }

std::uint64_t QueuePointers::entry_bytes(std::int32_t tile_alignment) const {
  return static_cast<std::uint64_t>(queue_->grid.volume() * queue_->block.tiles()) *
         static_cast<std::uint64_t>(tile_bytes(queue_->format, queue_->tile_dim, tile_alignment));
}

std::int64_t QueuePointers::wrapped(std::int64_t value) const {
  const std::int64_t range = 2 * entries();
  return range == 0 ? 0 : ((value % range) + range) % range;
}

}  // namespace buda::timed
