// SPDX-License-Identifier: Apache-2.0
// The functions of gates in 16-bit integers, as TensorFlow Lite's reference kernels compute them: by interpolation between 256 knots. As
// the argument has 16 bits, a table of all its values gives every bit.
#pragma once

#include <cstdint>
#include <vector>

namespace buda::tflite_frontend {

// At place x + kGateTableOffset: the function of the 16-bit number x.
inline constexpr std::int64_t kGateTableOffset = 32768;

// 2^15 sigmoid(x / 2^12).
std::vector<std::int32_t> sigmoid_table();
// 2^15 tanh(x * 2^log2_scale).
std::vector<std::int32_t> tanh_table(int log2_scale);

}  // namespace buda::tflite_frontend
