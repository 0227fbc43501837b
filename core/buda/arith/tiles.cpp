// SPDX-License-Identifier: Apache-2.0
// Tile by tile.
#include <buda/arith/tiles.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace buda::arith {

using netlist::BlockShape;
using netlist::TileIndex;
using netlist::UblockOrder;

TilePlace tile_place(GridShape grid, const BlockShape& b, UblockOrder order, const TileOfEntry& of) {
  const std::int64_t core_rt = std::int64_t{b.mblock_m} * b.ublock_rt, core_ct = std::int64_t{b.mblock_n} * b.ublock_ct;
  const std::int64_t r = of.tile.r % core_rt, c = of.tile.c % core_ct, m = r / b.ublock_rt, n = c / b.ublock_ct;
  const std::int64_t ublock = order == UblockOrder::r ? m * b.mblock_n + n : n * b.mblock_m + m;
  return {of.tile.r / core_rt * grid.cols + of.tile.c / core_ct,
          (of.entry * b.t + of.tile.t) * b.mblock_tiles() + ublock * b.ublock_tiles() + r % b.ublock_rt * b.ublock_ct + c % b.ublock_ct};
}

TileOfEntry tile_at(GridShape grid, const BlockShape& b, UblockOrder order, TilePlace place) {
  const std::int64_t in_ublock = place.number % b.ublock_tiles(), ublock = place.number % b.mblock_tiles() / b.ublock_tiles(),
                     t = place.number / b.mblock_tiles();
  const std::int64_t m = order == UblockOrder::r ? ublock / b.mblock_n : ublock % b.mblock_m,
                     n = order == UblockOrder::r ? ublock % b.mblock_n : ublock / b.mblock_m;
  return {t / b.t,
          {t % b.t, (place.part / grid.cols * b.mblock_m + m) * b.ublock_rt + in_ublock / b.ublock_ct,
           (place.part % grid.cols * b.mblock_n + n) * b.ublock_ct + in_ublock % b.ublock_ct}};
}

namespace {

std::size_t start_of(const Value& v, const TileIndex& tile) {
  return static_cast<std::size_t>(tile.t) * v.matrix() +
         static_cast<std::size_t>(tile.r) * static_cast<std::size_t>(v.dim.rows) * v.cols() +
         static_cast<std::size_t>(tile.c) * static_cast<std::size_t>(v.dim.cols);
}

template <class T>
void copy_numbers(const Value& from, const TileIndex& source, Value& to, const TileIndex& target, bool transposed) {
  const auto h = static_cast<std::size_t>(to.dim.rows), w = static_cast<std::size_t>(to.dim.cols);
  const T* in = from.data<T>().data() + start_of(from, source);
  T* out = to.data<T>().data() + start_of(to, target);
  for (std::size_t y = 0; y < h; ++y) {
    if (!transposed) {
      std::copy_n(in + y * from.cols(), w, out + y * to.cols());
    } else {
      for (std::size_t x = 0; x < w; ++x) out[y * to.cols() + x] = in[x * from.cols() + y];
    }
  }
}

template <class T>
void fill_numbers(Value& to, const TileIndex& target, T number) {
  T* out = to.data<T>().data() + start_of(to, target);
  for (std::size_t y = 0; y < static_cast<std::size_t>(to.dim.rows); ++y)
    std::fill_n(out + y * to.cols(), static_cast<std::size_t>(to.dim.cols), number);
}

}  // namespace

void copy_tile(const Value& from, TileIndex source, Value& to, TileIndex target, bool transposed) {
  if (to.integer()) {
    copy_numbers<std::int32_t>(from, source, to, target, transposed);
  } else {
    copy_numbers<float>(from, source, to, target, transposed);
  }
}

void fill_tile(Value& to, TileIndex target, double number, Mode mode) {
  if (to.integer()) {
    fill_numbers(to, target, static_cast<std::int32_t>(std::llround(std::clamp(number, -2147483647.0, 2147483647.0))));
    return;
  }
  // One number alone keeps its value in every format but for its precision.
  auto rounded = static_cast<float>(number);
  store(mode, to.format, {&rounded, 1}, 1);
  fill_numbers(to, target, rounded);
}

}  // namespace buda::arith
