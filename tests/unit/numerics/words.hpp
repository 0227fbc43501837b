// SPDX-License-Identifier: Apache-2.0
// Numbers as words, and words as numbers.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

namespace buda::numerics {

inline std::uint32_t word(double value) { return std::bit_cast<std::uint32_t>(static_cast<float>(value)); }
inline float value(std::uint32_t w) { return std::bit_cast<float>(w); }
inline constexpr float kInfinity = std::numeric_limits<float>::infinity();

}  // namespace buda::numerics
