// SPDX-License-Identifier: Apache-2.0
// The index tiles of a sparse ("identity") matmul: which sparse tile meets which row of activation tiles, and where the product goes.
//
// in0 holds the different sparse tiles, in1 the activations, in2 index tiles that list the products. Every core row has index and sparse
// tiles of its own (every fraction of its columns, with fracture_factor), and all columns of a core do the same. There are two encodings.
//
//   strips   16-bit words, for ops with sparse_tile_ptr_bits (TT-Buda's present form). A strip is a row of u_kt activation tiles:
//              word 0, 1   strip index (30 bits); bit 30: last strip of this output matrix; bit 31: the next strip begins in the next tile
//              word 2      number of ublock rows of the output that it adds to
//            then for each of these one word: ublock row in the low sparse_ublock_idx_bits, above them the number of tiles (0 is the first
//            number that does not fit); and for each tile one word: sparse tile in the high sparse_tile_ptr_bits, below them the row in the
//            ublock, and lowest, in as many bits as u_kt - 1 has (at least one), the activation tile's row in the strip.
//   words    32-bit words, for ops with indices_len only (its older form). Rows of activation ublocks follow each other; each begins with
//            a control word and has, per column of ublocks and per tile row in them, one word for each product: sparse tile (bits 0-15),
//            output row of the next product (16-28), last product of the activation ublock (30), of the tile row (31). The first product
//            goes to starting_row. Control words (bit 29) push (26: nothing else follows), or loop: bit 28 sets how often (0-15), bit 27
//            goes back to the word that bits 0-15 name.
#pragma once

#include <buda/netlist/model/op.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::netlist {

// Output tile (t, row, c) += sparse tile `tile` times activation tile (act, c), for every tile column c of the core.
struct SparseProduct {
  std::int32_t t = 0;        // output matrix
  std::int32_t row = 0;      // row of the core's output tiles
  std::int32_t act = 0;      // row of activation tiles, counted through all their matrices: matrix act / rt, row act mod rt
  std::int32_t tile = 0;     // sparse tile of the core
  std::int32_t column = -1;  // ublock column to which it is limited (words); -1: all
  friend bool operator==(const SparseProduct&, const SparseProduct&) = default;
};

struct SparseGeometry {
  enum class Form : std::uint8_t { strips, words };
  Form form = Form::strips;
  std::int32_t t = 1, mblock_m = 1, mblock_n = 1, ublock_rt = 1;  // of the output, per core
  std::int32_t u_kt = 1;                                          // activation tiles of a strip
  int tile_bits = 0, ublock_bits = 0, inner_bits = 0;             // strips: of sparse tile, ublock row, row in the strip
  std::int32_t length = 0, starting_row = 0;                      // words

  std::int32_t rows() const { return mblock_m * ublock_rt; }
};

// Failures are sentences without a full stop, for a message of the caller.
template <class T>
using SparseResult = std::variant<T, std::string>;

// How an op's products are encoded. Where sparse_ublock_idx_bits is absent it is sparse_tile_ptr_bits, as in TT-Buda; an op that has
// neither bits nor indices_len gets strips with the fewest bits that hold its blocks.
SparseResult<SparseGeometry> sparse_geometry(const Op& op);

// The products of one core, in the order of execution. `bytes` are its index tiles one after the other, `tile_bytes` each. Whatever the
// bytes, the products stay within the output; whether activations and sparse tiles exist is for the caller to check.
SparseResult<std::vector<SparseProduct>> decode_sparse(const SparseGeometry& geometry, std::span<const std::uint8_t> bytes,
                                                       std::size_t tile_bytes);

// Index tiles for these products: as many whole tiles as they need, for words at least as many as `length` asks for. Strips need the
// products of each t in ascending order of strips, and take them in any order within a strip. Words need them in the order in which they
// are executed, with at least one for each tile row of the activations that come before the last.
SparseResult<std::vector<std::uint8_t>> encode_sparse(const SparseGeometry& geometry, std::span<const SparseProduct> products,
                                                      std::size_t tile_bytes);

}  // namespace buda::netlist

#pragma GCC visibility pop
