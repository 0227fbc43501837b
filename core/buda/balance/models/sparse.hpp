// Sparse matmuls on cores: a selection matrix divided among the rows of a grid, and the index tiles that tell each core its products.
//
// All cores of a grid row do the same. The activations reach every core from top to bottom, strip by strip (u_kt tile rows each); a core
// takes the strips that its index tiles name and lets the others pass. They cannot go back: where a part of the result needs a strip above
// the one that the part before it ended with, the activations are sent once more (`passes`).
#pragma once

#include <buda/balance/models/sparse_use.hpp>
#include <buda/balance/problem/selection.hpp>

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace buda::balance {

// How often the activations are sent. O(rows of the selection matrix).
std::int32_t sparse_passes(const SelectionMatrix& matrix, const SparseBlocking& blocking);

// A sentence without full stop where the encoding has no room: too many sparse tiles for the bits of an index, or too many products of a
// strip for an index tile. O(products + rows of the selection matrix).
std::variant<SparseUse, std::string> sparse_use(const SelectionMatrix& matrix, const SparseBlocking& blocking);

struct EncodedSelection;  // encoded_selection.hpp

// The values of the two parameters. `use` is what sparse_use found for the same blocking.
EncodedSelection encode_selection(const SelectionMatrix& matrix, const SparseBlocking& blocking, const SparseUse& use);

}  // namespace buda::balance
