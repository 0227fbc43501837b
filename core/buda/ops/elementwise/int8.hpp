// SPDX-License-Identifier: Apache-2.0
// The Int8 of a device: a sign and 7 bits, so that integers go from -127 to 127; halves are rounded away from zero.
#pragma once

#include <buda/ops/table/evaluate_call.hpp>
#include <buda/ops/table/op.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace buda::ops {

inline constexpr float kMaxInt8 = 127;

inline float as_int8(float x) { return std::clamp(std::round(x), -kMaxInt8, kMaxInt8); }

// Attributes of products of integers in Int8, which say what becomes of their sums.
std::vector<AttrDef> int8_product_attrs();

// Sums of products, plus bias, as such an op gives them: with `dequantize` (sum - zero_point) * scale, else sum * scale + zero_point in
// Int8. Bias and scale broadcast to the sums.
Result<Tensor> scaled_sums(const EvaluateCall& call, const Tensor& sums, const Tensor& bias, const Tensor& scale, bool dequantize);

}  // namespace buda::ops
