// Roundings of the destination register.
#include "precision.hpp"

#include <buda/tensor/quantize.hpp>

#include <bit>
#include <cmath>

namespace buda::golden {
namespace {

float round_bf16(float v) {
  auto bits = std::bit_cast<std::uint32_t>(v);
  bool nan = (bits & 0x7fffffffu) > 0x7f800000u;
  return std::bit_cast<float>(nan ? bits : (bits + 0x8000u) & 0xffff0000u);
}

// 11 significant bits, exponents 2^-14 to 2^16, of which the last holds ordinary numbers.
float round_fp16(float v) {
  constexpr std::uint32_t kLargest = 0x47ffe000u;   // 131008
  constexpr std::uint32_t kSmallest = 0x38800000u;  // 2^-14
  auto bits = std::bit_cast<std::uint32_t>(v);
  std::uint32_t magnitude = ((bits & 0x7fffffffu) + 0x1000u) & 0xffffe000u;
  magnitude = magnitude > kLargest ? kLargest : magnitude;
  magnitude = magnitude < kSmallest ? 0 : magnitude;
  return std::bit_cast<float>((bits & 0x80000000u) | magnitude);
}

}  // namespace

Rounding dest_rounding(Mode mode, DataFormat acc, DataFormat out) {
  if (mode == Mode::fp32) return Rounding::none;
  if (acc == DataFormat::invalid) acc = out;
  if (acc == DataFormat::float32 || acc == DataFormat::tf32 || is_integer(acc)) return Rounding::none;
  return exponent_family(acc) == ExponentFamily::a ? Rounding::fp16 : Rounding::bf16;
}

void round_to(Rounding rounding, std::span<float> numbers) {
  if (rounding == Rounding::bf16)
    for (float& v : numbers) v = round_bf16(v);
  if (rounding == Rounding::fp16)
    for (float& v : numbers) v = round_fp16(v);
}

void pack(Mode mode, Rounding dest, DataFormat out, std::span<float> numbers, std::size_t cols) {
  if (mode == Mode::fp32 && is_float(out)) return;
  if (out == DataFormat::float16_b) {
    // Rounding again to the width of the register changes nothing.
    round_to(dest == Rounding::fp16 ? Rounding::none : Rounding::bf16, numbers);
  }
  store(mode, out, numbers, cols);
}

void store(Mode mode, DataFormat out, std::span<float> numbers, std::size_t cols) {
  if (mode == Mode::fp32 && is_float(out)) return;
  quantize_to_format(numbers, cols == 0 ? 0 : numbers.size() / cols, cols, out);
}

int fraction_bits(DataFormat f) {
  if (is_bfp(f)) return bfp_magnitude_bits(f) - 1;
  if (f == DataFormat::float16_b) return 7;
  if (f == DataFormat::float32) return 23;
  return f == DataFormat::lf8 || f == DataFormat::fp8_e4m3 ? 2 : 10;
}

Phases phases(Mode mode, netlist::MathFidelity fidelity, DataFormat in0) {
  if (mode == Mode::fp32) return {};
  switch (fidelity) {
    case netlist::MathFidelity::lofi:
      return {kOperandB.high, kOperandA.high, false};
    case netlist::MathFidelity::hifi2:
      return {kOperandB.high, kOperandA.full, false};
    case netlist::MathFidelity::hifi2_b:
      return {kOperandB.full, kOperandA.high, false};
    case netlist::MathFidelity::hifi3:
      return {kOperandB.high, kOperandA.full, fraction_bits(in0) > 6};
    case netlist::MathFidelity::hifi4:
      break;
  }
  return {kOperandB.full, kOperandA.full, false};
}

}  // namespace buda::golden
