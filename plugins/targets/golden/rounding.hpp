// The widths of the destination register.
#pragma once

#include <cstdint>

namespace buda::golden {

// To how many significant bits a number in the destination register is rounded, half away from zero: 24, 8 or 11.
enum class Rounding : std::uint8_t { none, bf16, fp16 };

}  // namespace buda::golden
