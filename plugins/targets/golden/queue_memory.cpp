// Ring buffers.
#include "queue_memory.hpp"

#include <algorithm>

namespace buda::golden {

QueueMemory::QueueMemory(const netlist::Queue& queue) : queue_(&queue), slots_(static_cast<std::size_t>(std::max(queue.entries, 0))) {}

void QueueMemory::append(ValuePtr value) {
  put(write_, std::move(value));
  write_ = wrapped(write_ + 1, pointers());
}

void QueueMemory::clear() {
  std::fill(slots_.begin(), slots_.end(), nullptr);
  read_ = write_ = 0;
}

}  // namespace buda::golden
