// SPDX-License-Identifier: Apache-2.0
// The matrix unit in integers, step by step.
#include <buda/numerics/matrix_unit.hpp>

#include <algorithm>
#include <bit>
#include <cstdlib>

namespace buda::numerics {
namespace {

// value / 2^distance, halves towards plus infinity.
std::int32_t shifted(std::int32_t value, int distance) {
  if (distance == 0) return value;
  return distance > 30 ? 0 : (value + (1 << (distance - 1))) >> distance;
}

// Below the last bit that a destination of 16 bits takes part with.
constexpr int kNarrow = 13;

Term product(Multiplication m, std::uint32_t a, std::uint32_t b) {
  if (is_zero(a) || is_zero(b)) return {zero_exponent(m), 0};
  const auto magnitude = static_cast<std::int32_t>(slice_a(a, m.phase) * slice_b(b, m.phase));
  return {exponent_of(a) + exponent_of(b) + exponent_adjustment(m), is_negative(a ^ b) ? -magnitude : magnitude};
}

Term sum_of_group(Multiplication m, const std::uint32_t* a, const std::uint32_t* b) {
  Term products[kGroup];
  int largest = 0;
  for (std::size_t i = 0; i < kGroup; ++i) {
    products[i] = product(m, a[i], b[i]);
    largest = std::max(largest, products[i].exponent);
  }
  if (largest <= 0) return {};
  std::int32_t sum = 0;
  for (const Term& p : products) {
    const std::int32_t aligned = shifted(std::abs(p.units), largest - p.exponent);
    sum += p.units < 0 ? -aligned : aligned;
  }
  return {largest, sum * (1 << kNarrow)};
}

// The number (sign, magnitude > 0) * 2^(exponent - 23), whose magnitude has fewer than 30 bits, as a word of the destination.
std::uint32_t rounded(Dest dest, bool negative, std::int32_t magnitude, int exponent) {
  const int kept = significant_bits(dest), top = 31 - std::countl_zero(static_cast<std::uint32_t>(magnitude));
  const int excess = top + 1 - kept;
  std::int32_t significand = excess > 0 ? shifted(magnitude, excess) : magnitude << -excess;
  exponent += top - 23;
  // Wormhole counts the leading bits of -1 wrongly: what should be shifted up is shifted down by four and lost.
  if (dest == Dest::fp32 && negative && magnitude == 1) {
    exponent += 27;
    significand = 0;
  }
  if (significand >> kept != 0) ++exponent;
  const std::uint32_t sign = negative ? kSignBit : 0;
  if (exponent <= 0) return 0;
  if (exponent >= (dest == Dest::fp16 ? 32 : 255)) return sign | (dest == Dest::fp16 ? kLargestFp16 : kLargestWide);
  const std::uint32_t fraction = (static_cast<std::uint32_t>(significand) << (24 - kept)) & 0x7fffffu;
  return sign | at_exponent(exponent) | fraction;
}

}  // namespace

std::uint32_t accumulate(Dest dest, Term first, Term second, std::uint32_t number) {
  const std::int32_t significand = is_zero(number) ? 0 : static_cast<std::int32_t>(number & 0x7fffffu) | 0x800000;
  const int exponent = std::max({first.exponent, second.exponent, exponent_of(number)});
  std::int32_t a = shifted(first.units, exponent - first.exponent), b = shifted(second.units, exponent - second.exponent),
               magnitude = shifted(significand, exponent - exponent_of(number));
  if (dest != Dest::fp32)
    for (std::int32_t* part : {&a, &b, &magnitude}) *part = shifted(*part, kNarrow) * (1 << kNarrow);
  const std::int32_t sum = a + b + (is_negative(number) ? -magnitude : magnitude);
  return sum == 0 ? 0 : rounded(dest, sum < 0, std::abs(sum), exponent);
}

std::uint32_t mvmul(Multiplication m, std::span<const std::uint32_t, kInner> a, std::span<const std::uint32_t, kInner> b,
                    std::uint32_t dest) {
  return accumulate(m.dest, sum_of_group(m, a.data(), b.data()), sum_of_group(m, a.data() + kGroup, b.data() + kGroup), dest);
}

std::uint32_t elwmul(Multiplication m, std::uint32_t a, std::uint32_t b, std::uint32_t dest) {
  Term p = product(m, a, b);
  if (p.exponent <= 0) p = {zero_exponent(m), 0};
  return accumulate(m.dest, {p.exponent, p.units * (1 << kNarrow)}, {}, dest);
}

std::uint32_t elwadd(Source source, Dest form, std::uint32_t a, std::uint32_t b, std::uint32_t dest) {
  if (is_zero(a)) a = 0;
  if (is_zero(b)) b = 0;
  if ((a & ~kSignBit) < (b & ~kSignBit)) std::swap(a, b);
  auto significand = [](std::uint32_t word) { return word == 0 ? 0 : static_cast<std::int32_t>(0x400 | (word >> 13 & 0x3ff)); };
  const std::int32_t smaller = shifted(significand(b), exponent_of(a) - exponent_of(b));
  const std::int32_t magnitude = significand(a) + (is_negative(a ^ b) ? -smaller : smaller);
  int exponent = exponent_of(a);
  if (form == Dest::fp32 && source == Source::fp16) exponent = exponent == 0 ? 127 - 2 * 15 : exponent + 127 - 15;
  return accumulate(form, {exponent, (is_negative(a) ? -magnitude : magnitude) * (1 << kNarrow)}, {}, dest);
}

std::uint32_t pool_max(std::uint32_t dest, std::uint32_t a) {
  auto order = [](std::uint32_t word) { return static_cast<std::int32_t>(is_negative(word) ? word ^ ~kSignBit : word); };
  a = move_to_dest(a);
  return order(a) > order(dest) ? a : dest;
}

}  // namespace buda::numerics
