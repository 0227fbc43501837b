// SPDX-License-Identifier: Apache-2.0
// Numbers of tiles that cores can share.
#include <buda/graph/values/tile_count.hpp>

#include <buda/graph/tm.hpp>

#include <algorithm>
#include <array>

namespace buda::graph {
namespace {

// So few tiles are shared as they are.
constexpr std::int64_t kMaxUnshared = 10;
// Rows and columns of cores that every chip has.
constexpr std::int64_t kMaxCores = 8;
// Fewer cores in a row are not enough for more than a few tiles, nor are five for many: a product of 75 by 75 tiles took three times as
// long as one of 77 by 77, and one of 125 by 125 did not fit.
constexpr std::int64_t kMinCores = 4;
constexpr std::int64_t kMinCoresOfMany = 6;
constexpr std::int64_t kMany = 65;
// What a core holds is cut into blocks, which need small factors, too; one may be larger.
constexpr std::array<std::int64_t, 4> kSmallFactors = {2, 3, 5, 7};
constexpr std::int64_t kLargestFactor = 13;
// An axis grows by this part of itself at most.
constexpr std::int64_t kMaxPaddedPart = 8;
// Beyond it an axis does not come from a model, and looking for another number would take long.
constexpr std::int64_t kMaxTiles = std::int64_t{1} << 20;

bool can_be_shared(std::int64_t tiles) {
  if (tiles <= kMaxUnshared) return true;
  std::int64_t cores = kMaxCores;
  while (tiles % cores != 0) --cores;
  if (cores < (tiles < kMany ? kMinCores : kMinCoresOfMany)) return false;
  std::int64_t left = tiles / cores;
  for (const std::int64_t factor : kSmallFactors)
    while (left % factor == 0) left /= factor;
  return left <= kLargestFactor;
}

}  // namespace

std::int64_t tile_count(std::int64_t datums) {
  const std::int64_t filled = datums / kTileSide + (datums % kTileSide != 0 ? 1 : 0);
  if (filled > kMaxTiles) return filled;
  const std::int64_t most = filled + std::max<std::int64_t>(filled / kMaxPaddedPart, 1);
  for (std::int64_t tiles = filled; tiles <= most; ++tiles)
    if (can_be_shared(tiles)) return tiles;
  return filled;
}

std::int64_t tiled_side(std::int64_t datums) { return tile_count(datums) * kTileSide; }

bool fills_tiles(std::int64_t datums) { return tiled_side(datums) == datums; }

}  // namespace buda::graph
