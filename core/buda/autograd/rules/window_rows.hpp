// SPDX-License-Identifier: Apache-2.0
// What convolutions and pools share: values as rows, one for each place, and selections of them by constant sparse matrices.
//
//   rows      [n, 1, places, c]      what windows slide over
//   im2col    [n, taps, windows, c]  for each tap of each window its row
#pragma once

#include <buda/autograd/backward.hpp>
#include <buda/ops/spatial/window.hpp>
#include <buda/tensor/fwd.hpp>

namespace buda::autograd {

Term to_rows(const Term& x);
Term from_rows(const Term& rows, const Shape& shape);

Term constant(Backward& b, Tensor tensor);
Term im2col(Backward& b, const Term& rows, const ops::Window& window);
// For each tap and place the window that has this tap there, from 1: [1, taps, places].
Tensor windows_by_place(const ops::Window& window);

}  // namespace buda::autograd
