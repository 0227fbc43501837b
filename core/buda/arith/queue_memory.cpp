// SPDX-License-Identifier: Apache-2.0
// Ring buffers, and views of them.
#include <buda/arith/queue_memory.hpp>

#include <buda/arith/tiles.hpp>

#include <algorithm>
#include <map>

namespace buda::arith {
namespace {

using netlist::Queue;
using netlist::TileIndex;

// Calls body(tile of the queue's slot, where that is in `other`) for all tiles.
template <class F>
void each_tile(const Queue& queue, std::size_t slot, const Queue& other, F body) {
  const auto shape = queue.shape();
  for (TileIndex i{0, 0, 0}; i.t < shape.t; ++i.t)
    for (i.r = 0; i.r < shape.rt; ++i.r)
      for (i.c = 0; i.c < shape.ct; ++i.c) {
        const TilePlace place = tile_place(queue.grid, queue.block, queue.ublock_order, {static_cast<std::int64_t>(slot), i});
        body(i, tile_at(other.grid, other.block, other.ublock_order, place));
      }
}

}  // namespace

QueueMemory::QueueMemory(const Queue& queue) : queue_(&queue), slots_(static_cast<std::size_t>(std::max(queue.entries, 1))) {}

void QueueMemory::append(ValuePtr value) {
  put(write_, std::move(value));
  write_ = wrapped(write_ + 1, pointers());
}

void QueueMemory::clear() {
  std::fill(slots_.begin(), slots_.end(), nullptr);
  read_ = write_ = 0;
}

ValuePtr QueueMemory::view(std::size_t slot) const {
  auto out = std::make_shared<Value>(queue_->shape(), queue_->tile_dim, queue_->format);
  bool written = false;
  each_tile(*queue_, slot, target_->queue(), [&](const TileIndex& tile, const TileOfEntry& there) {
    const ValuePtr from = target_->at(there.entry);
    written = written || from != nullptr;
    if (from) copy_tile(*from, there.tile, *out, tile);
  });
  return written ? out : nullptr;
}

void QueueMemory::put(std::int64_t pointer, ValuePtr value) {
  if (target_ == nullptr) {
    slots_[slot(pointer)] = std::move(value);
    return;
  }
  std::map<std::int64_t, std::shared_ptr<Value>> changed;
  const Queue& other = target_->queue();
  each_tile(*queue_, slot(pointer), other, [&](const TileIndex& tile, const TileOfEntry& there) {
    auto& to = changed[there.entry];
    if (!to) {
      const ValuePtr old = target_->at(there.entry);
      to = old ? std::make_shared<Value>(*old) : std::make_shared<Value>(other.shape(), other.tile_dim, other.format);
    }
    copy_tile(*value, tile, *to, there.tile);
  });
  for (auto& [slot, contents] : changed) target_->put(slot, std::move(contents));
}

}  // namespace buda::arith
