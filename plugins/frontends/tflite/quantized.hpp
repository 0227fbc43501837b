// SPDX-License-Identifier: Apache-2.0
// Quantised operators computed in integers, with the rounding of TensorFlow Lite's reference kernels.
#pragma once

#include "fixed_point.hpp"
#include "node_import.hpp"

namespace buda::tflite_frontend {

// Addition, subtraction and multiplication, each with its fused activation.
Result<void> quantized_add(NodeImport& n, tflite_format::Activation activation, bool subtract);
Result<void> quantized_multiply(NodeImport& n, tflite_format::Activation activation);

// A sum of products in I32 (or I64, for 16-bit numbers) as the stored result: scaled by input scale * weights' scale / result scale, moved
// and clipped. `axis` is that of output channels in `sum`, for weights with a scale for each. The last node is made by `last`.
graph::ValueRef rescaled_products(NodeImport& n, graph::ValueRef sum, std::int64_t axis, tflite_format::Activation activation,
                                  ops::Builder& (*last)(NodeImport&));

// Input i less its zero point, in the type that products are summed in: I32, or I64 for 16-bit numbers.
graph::ValueRef centred(NodeImport& n, std::size_t i, graph::ValueRef value, DType to, std::string_view name);
// The type that products of inputs 0 and 1 are summed in.
DType sum_type(const NodeImport& n);
// Does the result have the reference's integer arithmetic for inputs of this type (I8, U8, I16 with weights of I8 or U8)?
bool has_integer_products(const NodeImport& n);

// The stored numbers of the result between which an activation leaves them.
struct StoredRange {
  double least, most;
};
StoredRange stored_range(const TensorInfo& result, tflite_format::Activation activation);

// Integers times a factor, or one for each slice along `axis`, plus the zero point, in its type. The node is made by `last` where it is
// given, else it is a step.
graph::ValueRef requantize(NodeImport& n, std::string_view step, graph::ValueRef value, const std::vector<FixedFactor>& factors,
                           std::int64_t axis, Tensor zero_point, ops::Builder& (*last)(NodeImport&) = nullptr);

// The value (integers less their zero point) times the factor, as stored in the result.
graph::ValueRef rescaled(NodeImport& n, std::string_view step, graph::ValueRef value, double factor, const TensorInfo& result);
// The same as the operator's result.
graph::ValueRef rescaled_by(NodeImport& n, graph::ValueRef value, const FixedFactor& factor);

}  // namespace buda::tflite_frontend
