// SPDX-License-Identifier: Apache-2.0
// The two kinds of devices: with a destination register of 32 bits and without.
#include <buda/passes/integers/exact_limits.hpp>

#include <buda/tensor/data_format.hpp>

namespace buda::passes {

ExactLimits exact_limits(const device::DeviceDescriptor& device) {
  // A sum of two low digits must be an operand again: 2 * (base - 1) <= operand.
  if (device.supports(DataFormat::float32) && device.features.fp32_accumulate)
    return {.operand = 2047, .factor = 1023, .result = (1 << 24) - 1, .exponent = 10, .base = 1024};
  return {.operand = 255, .factor = 255, .result = 255, .exponent = 10, .base = 64};
}

}  // namespace buda::passes
