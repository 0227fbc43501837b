// SPDX-License-Identifier: Apache-2.0
// The four axes (w, z, r, c) of a device value, and how the axes of a model's tensor map to them.
#pragma once

#include <buda/tensor/shape.hpp>

#include <cstdint>

namespace buda::passes {

// The mapping of the leading axes of tensors with four and more axes. Apart: all but the last three are w, the batch, whose elements the
// device processes one after the other. Joined: all but the last two are slices of z, so that w is 1 everywhere and they may meet in an op.
enum class Batch : std::uint8_t { apart, joined };

// The axes that a shape of the model maps to; the shape must have them (ops::tiled_shape).
Shape axes_of(const Shape& model, Batch batch);

// A shape of the model as the host gives and takes it: with the batch joined, at most three axes.
Shape border_shape(const Shape& model, Batch batch);

}  // namespace buda::passes
