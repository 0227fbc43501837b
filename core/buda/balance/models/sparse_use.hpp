// SPDX-License-Identifier: Apache-2.0
// How a sparse matmul is divided among cores, and what its encoding takes (sparse.hpp).
#pragma once

#include <cstdint>

#pragma GCC visibility push(default)

namespace buda::balance {

// How a result is divided. `parts` of streaming (stream.hpp), each of grid_rows * mblock_m * ublock_rt tile rows.
struct SparseBlocking {
  std::int32_t parts = 1, grid_rows = 1, mblock_m = 1, ublock_rt = 1;
  std::int32_t u_kt = 1;   // divides the tile rows of an activation matrix
  std::int32_t bands = 1;  // of rows, into which a part is cut, each with all slices (stream.hpp)
};

// What the encoding takes; all of the grid row that needs most.
struct SparseUse {
  std::int32_t passes = 0;       // times that the activations are sent; 0: no sparse matmul
  std::int32_t tiles = 0;        // distinct sparse tiles
  std::int32_t index_tiles = 0;  // of 4 KiB
  std::int32_t tile_bits = 0, ublock_bits = 0;
  std::int64_t products = 0;  // of sparse tiles with tile rows of activations, for one input
  std::int64_t ublocks = 0;   // of sparse tiles with products: a strip with a row of ublocks of the result
  std::int64_t strips = 0;    // that have products, over all parts
  // From the first strip that any core needs for a part to the last: of fewer, cores would wait for one another.
  std::int32_t reach = 0;
  friend bool operator==(const SparseUse&, const SparseUse&) = default;
};

}  // namespace buda::balance

#pragma GCC visibility pop
