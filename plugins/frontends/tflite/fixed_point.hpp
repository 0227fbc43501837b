// SPDX-License-Identifier: Apache-2.0
// Factors as integers with a shift, as TensorFlow Lite's reference kernels have them.
#pragma once

#include <cstdint>

namespace buda::tflite_frontend {

// multiplier * 2^(shift - 31), multiplier being 0 or in [2^30, 2^31).
struct FixedFactor {
  std::int32_t multiplier = 0;
  std::int32_t shift = 0;
};

// The nearest one to a factor; one below 2^-31 becomes 0.
FixedFactor fixed_factor(double factor);

}  // namespace buda::tflite_frontend
