// SPDX-License-Identifier: Apache-2.0
// The widths of the destination register. Apart from math_unit.hpp for files that are compiled for one processor only and may not take
// inline functions along.
#pragma once

#include <cstdint>

#pragma GCC visibility push(default)

namespace buda {

// To how many significant bits a number in the destination register is rounded, half away from zero: 24, 8 or 11.
enum class DestRounding : std::uint8_t { none, bf16, fp16 };

}  // namespace buda

#pragma GCC visibility pop
