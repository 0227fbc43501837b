// SPDX-License-Identifier: Apache-2.0
// Linear maps along one axis, such as interpolation: products with selection matrices, forwards and back.
#pragma once

#include <buda/autograd/term.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace buda::autograd {

// Element o of the result is the sum of weights[o * terms + k] times element places[o * terms + k] over k. A weight of 0 counts for
// nothing, wherever its place is.
struct AxisMap {
  std::int64_t in = 0, out = 0;  // elements along the axis
  std::size_t terms = 1;
  std::vector<std::int64_t> places;
  std::vector<double> weights;
};

// Its adjoint: what goes from the result back to the input.
AxisMap transposed(const AxisMap& map);

// x with the map applied along an axis, which has map.in elements.
Term mapped(const Term& x, std::size_t axis, const AxisMap& map);

}  // namespace buda::autograd
