// SPDX-License-Identifier: Apache-2.0
// Signs of the numbers of a tensor that is known when a model is compiled: of all together, and along lines that a product adds up.
#pragma once

#include <buda/ops/device/value_range.hpp>
#include <buda/tensor/tensor.hpp>

#include <cstdint>
#include <optional>

namespace buda::passes {

struct NumberSigns {
  double coherence = 0;  // |sum| / sum of sizes; 0 where all are zero
  ops::ValueRange range = ops::ValueRange::unknown();
};
// Of large tensors the coherence is that of a sample, and the range says no more than the sign.
NumberSigns signs_of(const Tensor& t);

struct LineSigns {
  double coherence = 0;      // root mean square over lines
  double density = 0;        // of the line with most: its numbers that are not zero, as a part of whole tiles
  bool beyond_left = false;  // some numbers have bits that the first phase does not read of a left operand, of a right one
  bool beyond_right = false;
  bool low_bits(bool is_left) const { return is_left ? beyond_left : beyond_right; }
};
// Of the last two axes of a tensor: lines are its rows (each along the columns), or its columns. Of large tensors some lines are looked at.
LineSigns lines_of(const Tensor& t, bool along_columns);

// The number that all elements of a tensor of floats are; nothing where they differ, or there are very many.
std::optional<float> only_factor(const Tensor& t);

// The most rows that are added up for a row of a product with this selection matrix, a row of which stands for a term and a slice
// (ops/linear_algebra/sparse.hpp).
std::int64_t most_picks(const Tensor& selection, std::int64_t slices);

}  // namespace buda::passes
