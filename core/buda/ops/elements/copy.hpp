// SPDX-License-Identifier: Apache-2.0
// Moving elements between tensors, whatever their type.
#pragma once

#include <buda/ops/elements/buffer.hpp>

#include <cstdint>
#include <vector>

namespace buda::ops {

// The tensor of the given shape whose element at each place is element first + sum(place * strides) of `in`. All of these must exist.
Result<Tensor> gathered(const Tensor& in, const Shape& shape, std::int64_t first, const std::vector<std::int64_t>& strides,
                        unsigned threads = 1);

// Writes `part` into a buffer of shape `out_shape`, so that its first element comes to `place`. It must fit there.
void put(const Tensor& part, Buffer& out, const Shape& out_shape, const std::vector<std::int64_t>& place);

// Sets every element to a number, converted as Tensor::cast does.
void fill(Buffer& out, DType dtype, double value);

}  // namespace buda::ops
