// SPDX-License-Identifier: Apache-2.0
// The 8-bit floating-point formats of the Open Compute Project (E4M3FN, E5M2) and of Noune et al., 2022 (…FNUZ), as ONNX names them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#pragma GCC visibility push(default)

namespace buda {

enum class Float8 : std::uint8_t {
  e4m3fn,    // no infinities, one NaN of each sign
  e4m3fnuz,  // no infinities, one NaN, no negative zero
  e5m2,      // as IEEE 754 has it
  e5m2fnuz,  // no infinities, one NaN, no negative zero
};

// "E4M3FN".
std::string_view float8_name(Float8 format);
std::optional<Float8> float8_by_name(std::string_view name);

// The number that eight bits stand for; every one is a float.
float float8_to_float(Float8 format, std::uint8_t bits);

// The nearest number of the format, ties to the even mantissa. What is larger than the largest number becomes that one if `saturate`, else
// infinity where the format has it and NaN where not. ONNX's Cast defines infinities: with `saturate` the largest number, but in formats
// FNUZ always NaN.
double float8_rounded(Float8 format, double x, bool saturate);

}  // namespace buda

#pragma GCC visibility pop
