// SPDX-License-Identifier: Apache-2.0
// Sparse matmuls on cores: a selection matrix divided among the rows of a grid, and the index tiles that tell each core its products.
//
// All cores of a grid row do the same. The activations reach every core from top to bottom, strip by strip (u_kt tile rows each); a core
// takes the strips that its index tiles name and lets the others pass. They cannot go back: where a part of the result needs a strip above
// the one that the part before it ended with, the activations are sent once more (`passes`).
#pragma once

#include <buda/balance/models/op_model.hpp>
#include <buda/balance/problem/selection.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <variant>
#include <vector>

namespace buda::balance {

// How a result is divided. `parts` of streaming (stream.hpp), each of grid_rows * mblock_m * ublock_rt tile rows.
struct SparseBlocking {
  std::int32_t parts = 1, grid_rows = 1, mblock_m = 1, ublock_rt = 1;
  std::int32_t u_kt = 1;   // divides the tile rows of an activation matrix
  std::int32_t bands = 1;  // of rows, into which a part is cut, each with all slices (stream.hpp)
};
SparseBlocking sparse_blocking(const OpModel& model);

// From the first tile row of the activations that a core takes for a part to the last, counted as in SelectionMatrix; none: last < 0.
struct ActRange {
  std::int32_t first = std::numeric_limits<std::int32_t>::max(), last = -1;
};
struct ActRanges {
  std::int32_t parts = 1;
  std::vector<ActRange> ranges;  // by core, then by part
};

// They depend neither on u_kt nor on the shape of ublocks. O(rows of the selection matrix).
ActRanges act_ranges(const SelectionMatrix& matrix, const SparseBlocking& blocking);

// How often the activations are sent in strips of `u_kt` tile rows, and SparseUse::reach. O(cores * parts).
struct SparsePasses {
  std::int32_t passes = 1, reach = 0;
};
SparsePasses sparse_passes(const ActRanges& acts, std::int32_t u_kt, std::int32_t all_acts);

// A sentence without full stop where the encoding has no room: too many sparse tiles for the bits of an index, or too many products of a
// strip for an index tile. O(products + rows of the selection matrix).
std::variant<SparseUse, std::string> sparse_use(const SelectionMatrix& matrix, const SparseBlocking& blocking);

// Index tiles that the products of `use` fill whatever the step and the ublocks: each is a word of one of them.
std::int32_t min_index_tiles(const SparseUse& use);

struct EncodedSelection;  // encoded_selection.hpp

// The values of the two parameters. `use` is what sparse_use found for the same blocking.
EncodedSelection encode_selection(const SelectionMatrix& matrix, const SparseBlocking& blocking, const SparseUse& use);

}  // namespace buda::balance
