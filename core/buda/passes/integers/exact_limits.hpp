// SPDX-License-Identifier: Apache-2.0
// Up to which size a device computes with integers exactly.
//
// Device graphs hold integers as floating-point numbers. The matrix unit reads 11 significant bits of the operands of a sum and aligns the
// smaller one to the larger one's last bit; of a product it reads 11 bits of the left operand (of binary ops: the right one) and 10 of the
// other (docs/internals/numerics.md). A destination register of 32 bits then holds the result with 24 bits. Devices without one keep
// numbers in bfloat16 throughout.
#pragma once

#include <buda/device/descriptor.hpp>

#include <cstdint>

namespace buda::passes {

// Sizes without sign.
struct ExactLimits {
  std::int64_t operand = 0;  // of sums, differences and comparisons, and of the one operand of a product that has more bits
  std::int64_t factor = 0;   // of any operand of a product, and so of what is moved by one
  std::int64_t result = 0;   // of what is computed, if only the host or floating-point ops read it
  // Of the largest product of two operands that are added up with others: the exponents of both together. The products of a group are
  // aligned to the largest one, of which 11 bits take part.
  int exponent = 0;
  // Larger integers are kept as high * base + low (digits.hpp). A power of two.
  std::int64_t base = 0;
  // The next number beyond the largest is one bit at a place further up: it is held, moved and multiplied like an operand or a factor.
  // Only sums, differences and comparisons with others are not exact.
  std::int64_t held() const { return operand + 1; }
  std::int64_t moved() const { return factor + 1; }
  // Of an integer that is kept so.
  std::int64_t whole() const { return factor * base; }
};

ExactLimits exact_limits(const device::DeviceDescriptor& device);

}  // namespace buda::passes
