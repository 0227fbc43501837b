// SPDX-License-Identifier: Apache-2.0
// Roundings of the destination register.
#include <buda/tensor/formats/math_unit.hpp>

#include <buda/tensor/formats/quantize.hpp>

#include <algorithm>

namespace buda {
namespace {

float to_bf16_bits(float v) {
  auto bits = std::bit_cast<std::uint32_t>(v);
  bool nan = (bits & 0x7fffffffu) > 0x7f800000u;
  return std::bit_cast<float>(nan ? bits : (bits + 0x8000u) & 0xffff0000u);
}

// 11 significant bits, exponents 2^-14 to 2^16, of which the last holds ordinary numbers; below and above it saturates.
float to_fp16_bits(float v) {
  constexpr std::uint32_t kLargest = 0x47ffe000u;   // 131008
  constexpr std::uint32_t kSmallest = 0x38800000u;  // 2^-14
  auto bits = std::bit_cast<std::uint32_t>(v);
  std::uint32_t magnitude = ((bits & 0x7fffffffu) + 0x1000u) & 0xffffe000u;
  magnitude = magnitude < kSmallest ? 0 : std::min(magnitude, kLargest);
  return std::bit_cast<float>((bits & 0x80000000u) | magnitude);
}

}  // namespace

DestRounding dest_rounding(DataFormat accumulate, DataFormat output) {
  DataFormat f = accumulate == DataFormat::invalid ? output : accumulate;
  if (f == DataFormat::float32 || f == DataFormat::tf32 || !is_float(f)) return DestRounding::none;
  return exponent_family(f) == ExponentFamily::a ? DestRounding::fp16 : DestRounding::bf16;
}

void round_in_dest(DestRounding rounding, std::span<float> numbers) {
  if (rounding == DestRounding::bf16)
    for (float& v : numbers) v = to_bf16_bits(v);
  if (rounding == DestRounding::fp16)
    for (float& v : numbers) v = to_fp16_bits(v);
}

void pack_from_dest(DestRounding rounding, DataFormat out, std::span<float> numbers, std::size_t cols) {
  // The packer rounds to Float16_b as the register does, where quantize_to_format cuts.
  if (out == DataFormat::float16_b && rounding != DestRounding::fp16) round_in_dest(DestRounding::bf16, numbers);
  quantize_to_format(numbers, cols == 0 ? 0 : numbers.size() / cols, cols, out);
}

}  // namespace buda
