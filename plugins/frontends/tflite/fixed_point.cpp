// SPDX-License-Identifier: Apache-2.0
// Factors in fixed point.
#include "fixed_point.hpp"

#include <cmath>

namespace buda::tflite_frontend {

FixedFactor fixed_factor(double factor) {
  if (!(factor != 0) || !std::isfinite(factor)) return {};
  int shift = 0;
  double fraction = std::frexp(factor, &shift);
  auto multiplier = static_cast<std::int64_t>(std::round(fraction * 2147483648.0));
  if (multiplier == std::int64_t{1} << 31) {
    multiplier /= 2;
    ++shift;
  }
  if (shift < -31) return {};
  return {static_cast<std::int32_t>(multiplier), shift};
}

}  // namespace buda::tflite_frontend
