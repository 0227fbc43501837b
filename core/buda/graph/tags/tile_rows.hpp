// SPDX-License-Identifier: Apache-2.0
// Values whose data fill only the first rows of their tiles. A device graph keeps them in whole tiles of 32 rows; a tag says how many rows
// of each tile are ever read, so that a chip that can do so holds and computes no more:
//
//   x = input : F32 [1, 1, 32, 64]      tile_rows=4      model_shape=[3, 50]
//   y = matmul(x, w) : F32 [1, 1, 32, 96]      tile_rows=4
//
// What stands below them in the tile is undefined.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/graph/fwd.hpp>

#include <array>
#include <cstdint>

namespace buda::graph {

inline constexpr const char* kTileRows = "tile_rows";  // the tag
// Its values.
inline constexpr std::array<std::int64_t, 5> kSmallTileRows = {1, 2, 4, 8, 16};

// kTileSide without the tag. An error (GR029) tells another number than these, and a value with more than one tile along r.
Result<std::int64_t> tile_rows(const Node& n);
// The number in the tag, whatever the value; kTileSide without the tag.
Result<std::int64_t> named_tile_rows(const Node& n);

}  // namespace buda::graph
