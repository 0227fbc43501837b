// SPDX-License-Identifier: Apache-2.0
// How many tiles an axis of the model takes on a device.
#pragma once

#include <cstdint>

namespace buda::graph {

// At least as many as its datums fill. Where that is a number that few cores could share, because it has a large prime factor or hardly any
// small ones (31, 37, 46, 127), it is the next one that they can, up to an eighth more: the tiles beyond are padding, as the rest of the
// last tile is. It never decreases as `datums` grow, and is the same for every axis of every value, so that values meet in all ops.
std::int64_t tile_count(std::int64_t datums);

// Its datums: tiles of 32.
std::int64_t tiled_side(std::int64_t datums);

// Whether an axis has no padding.
bool fills_tiles(std::int64_t datums);

}  // namespace buda::graph
