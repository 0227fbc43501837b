// SPDX-License-Identifier: Apache-2.0
// A selection matrix in tiles: which tile of it meets which tile row of the activations, for which tile row of the result.
//
// The selection matrix of a sparse ("identity") matmul has T slices of R tile rows each; nearly all of its tiles are zero, and those that
// are not are alike in many places. What is kept here does not depend on blocking; models/sparse_models.hpp divides it among cores.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/tensor/fwd.hpp>

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace buda::balance {

struct SelectionMatrix {
  // Tile row `row` of the result (slice * rows + row of the slice) += tiles[tile] * tile row `act` of the activations.
  struct Product {
    std::int32_t row = 0;
    std::int32_t act = 0;  // counted through all matrices of the activations: matrix * act_rows + row
    std::int32_t tile = 0;
    friend bool operator==(const Product&, const Product&) = default;
  };
  // The numbers of a tile that are not zero, by place (row * 32 + column), ascending.
  using Tile = std::vector<std::pair<std::int16_t, float>>;

  std::int32_t slices = 1;         // T of the result
  std::int32_t rows = 1;           // R, tile rows of a slice
  std::int32_t act_matrices = 1;   // t of the activations
  std::int32_t act_rows = 1;       // tile rows of one of them
  bool ones = true;                // no number but 0 and 1
  std::vector<Product> products;   // ascending by row, then act
  std::vector<std::size_t> first;  // by row: its first product; one more at the end
  std::vector<Tile> tiles;         // each once

  std::span<const Product> of_row(std::int32_t row) const {
    return std::span(products).subspan(first[static_cast<std::size_t>(row)],
                                       first[static_cast<std::size_t>(row) + 1] - first[static_cast<std::size_t>(row)]);
  }
  friend bool operator==(const SelectionMatrix&, const SelectionMatrix&) = default;
};

// What a selection matrix is made of. `picks` [terms * T' , numbers of rows] as ops/sparse.hpp describes it, with T' = `slices` (1: the
// same for all T); `weights` of the same shape, or null.
struct Selection {
  const Tensor* picks = nullptr;
  const Tensor* weights = nullptr;
  std::int64_t slices = 1;
};
// T, R of the result and matrices and tile rows of the activations, as in SelectionMatrix.
struct SelectionShape {
  std::int32_t slices = 1, rows = 1, act_matrices = 1, act_rows = 1;
};

// O(entries of `picks` * T / T', times the logarithm of the distinct tiles). A sentence without full stop where an entry names a row that
// the activations do not have, or the tensors do not have the shapes of a selection matrix.
Result<SelectionMatrix> selection_matrix(const Selection& selection, const SelectionShape& shape);

}  // namespace buda::balance
