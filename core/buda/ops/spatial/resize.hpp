// SPDX-License-Identifier: Apache-2.0
// Which elements a resized element is made of.
#pragma once

#include <buda/ops/table/op.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::ops {

// For each element along an axis of the result: its neighbours in the input, and their weights.
struct ResizeTaps {
  std::size_t per_element = 1;
  std::vector<std::int64_t> places;
  std::vector<double> weights;
  std::vector<char> outside;  // beyond the input, where the result is the extrapolation value

  // Is each element of the result the same one of the input, which has `in`?
  bool is_identity(std::int64_t in) const;
};

// For each axis of x, whose `resize` has these attributes.
Result<std::vector<ResizeTaps>> resize_taps(const Shape& x, const Attrs& attrs);

}  // namespace buda::ops

#pragma GCC visibility pop
