// SPDX-License-Identifier: Apache-2.0
// What convolutions and pools share: values as rows, one for each place, and selections of them by constant sparse matrices.
//
//   rows         [n, 1, places, c]        what windows slide over
//   joined rows  [1, 1, n places, c]      the same with those of all samples in one matrix, so that sums over samples are sums over
//                                         rows, and few places fill tiles
//   im2col       [1, taps, n windows, c]  for each tap of each window of each sample its row
//
// Selections of joined rows name each row of each sample. Where these are very many, samples stay apart, as in rows.
#pragma once

#include <buda/autograd/backward.hpp>
#include <buda/ops/spatial/window.hpp>
#include <buda/tensor/fwd.hpp>

#include <cstdint>
#include <vector>

namespace buda::autograd {

Term to_rows(const Term& x);
Term from_rows(const Term& rows, const Shape& shape);
// How many of n samples are joined, all or 1, where each has so many rows to be selected.
std::int64_t joined_samples(std::int64_t n, std::int64_t selected);
Term to_joined_rows(const Term& x, std::int64_t samples);

Term constant(Backward& b, Tensor tensor);
Term im2col(Backward& b, const Term& joined_rows, const ops::Window& window, std::int64_t samples);

// For each place the taps of windows that lie there: a row for each of as many as there are at most, with the number of the tap and of the
// window, those of earlier taps first; a row of a place with fewer is none.
struct TapsByPlace {
  struct Tap {
    std::int32_t tap = -1, window = -1;  // none
  };
  std::int64_t rows = 0, places = 0;
  std::vector<Tap> taps;  // row by row
};
TapsByPlace taps_by_place(const ops::Window& window);

}  // namespace buda::autograd
