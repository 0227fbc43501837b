// Ring buffers, and views of them.
#include <buda/arith/queue_memory.hpp>

#include <algorithm>
#include <map>

namespace buda::arith {
namespace {

using netlist::BlockShape;
using netlist::Queue;
using netlist::TileIndex;
using netlist::UblockOrder;

// Where a tile of a queue lies: in which buffer, and the how manieth tile from its start.
struct Place {
  std::int64_t buffer, tile;
};

Place place_of(const Queue& q, std::int64_t slot, const TileIndex& tile) {
  const BlockShape& b = q.block;
  const std::int64_t core_rt = std::int64_t{b.mblock_m} * b.ublock_rt, core_ct = std::int64_t{b.mblock_n} * b.ublock_ct;
  const std::int64_t r = tile.r % core_rt, c = tile.c % core_ct, m = r / b.ublock_rt, n = c / b.ublock_ct;
  const std::int64_t ublock = q.ublock_order == UblockOrder::r ? m * b.mblock_n + n : n * b.mblock_m + m;
  return {tile.r / core_rt * q.grid.cols + tile.c / core_ct,
          (slot * b.t + tile.t) * b.mblock_tiles() + ublock * b.ublock_tiles() + r % b.ublock_rt * b.ublock_ct + c % b.ublock_ct};
}

struct SlotTile {
  std::int64_t slot;
  TileIndex tile;
};

SlotTile tile_at(const Queue& q, const Place& place) {
  const BlockShape& b = q.block;
  const std::int64_t in_ublock = place.tile % b.ublock_tiles(), ublock = place.tile % b.mblock_tiles() / b.ublock_tiles(),
                     t = place.tile / b.mblock_tiles();
  const std::int64_t m = q.ublock_order == UblockOrder::r ? ublock / b.mblock_n : ublock % b.mblock_m,
                     n = q.ublock_order == UblockOrder::r ? ublock % b.mblock_n : ublock / b.mblock_m;
  return {t / b.t,
          {t % b.t, (place.buffer / q.grid.cols * b.mblock_m + m) * b.ublock_rt + in_ublock / b.ublock_ct,
           (place.buffer % q.grid.cols * b.mblock_n + n) * b.ublock_ct + in_ublock % b.ublock_ct}};
}

template <class T>
void copy_tile(const Value& from, const TileIndex& source, Value& to, const TileIndex& target) {
  const auto h = static_cast<std::size_t>(to.dim.rows), w = static_cast<std::size_t>(to.dim.cols);
  auto start = [&](const Value& v, const TileIndex& i) {
    return static_cast<std::size_t>(i.t) * v.matrix() + static_cast<std::size_t>(i.r) * h * v.cols() + static_cast<std::size_t>(i.c) * w;
  };
  for (std::size_t y = 0; y < h; ++y)
    std::copy_n(from.data<T>().data() + start(from, source) + y * from.cols(), w, to.data<T>().data() + start(to, target) + y * to.cols());
}

void copy_tile(const Value& from, const TileIndex& source, Value& to, const TileIndex& target) {
  if (to.integer()) {
    copy_tile<std::int32_t>(from, source, to, target);
  } else {
    copy_tile<float>(from, source, to, target);
  }
}

// Calls body(tile of the queue's slot, where that is in `other`) for all tiles.
template <class F>
void each_tile(const Queue& queue, std::size_t slot, const Queue& other, F body) {
  const auto shape = queue.shape();
  for (TileIndex i{0, 0, 0}; i.t < shape.t; ++i.t)
    for (i.r = 0; i.r < shape.rt; ++i.r)
      for (i.c = 0; i.c < shape.ct; ++i.c) body(i, tile_at(other, place_of(queue, static_cast<std::int64_t>(slot), i)));
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
  each_tile(*queue_, slot, target_->queue(), [&](const TileIndex& tile, const SlotTile& there) {
    const ValuePtr from = target_->at(there.slot);
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
  each_tile(*queue_, slot(pointer), other, [&](const TileIndex& tile, const SlotTile& there) {
    auto& to = changed[there.slot];
    if (!to) {
      const ValuePtr old = target_->at(there.slot);
      to = old ? std::make_shared<Value>(*old) : std::make_shared<Value>(other.shape(), other.tile_dim, other.format);
    }
    copy_tile(*value, tile, *to, there.tile);
  });
  for (auto& [slot, contents] : changed) target_->put(slot, std::move(contents));
}

}  // namespace buda::arith
