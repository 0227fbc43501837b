// SPDX-License-Identifier: Apache-2.0
// Block floating point: sixteen numbers that share an exponent.
//
// A number is a sign and a magnitude m of 7, 3 or 1 bits without a hidden one, and with the shared exponent E
//   value = ±m * 2^(E - bias - (bits of m - 1)),
// so that the largest of the group keeps its leading bit in the top bit of m.
//
// E is the largest exponent field among the sixteen; family A re-biases it from 127 to 15 and clamps it to 0…31, and what is still too
// large saturates. m is the 24-bit significand shifted right by the distance to E and on to its few bits, rounded half up in magnitude (or
// truncated) and clamped; the sign of a zero is dropped. (Reference: the software packer of TT-Buda, as told in the netlist specification.
// It shifts twice, to E and then to the width; the first shift only drops bits below those that the second one rounds by, so one rounding
// of the exact quotient is the same.) Denormals of float32 count as zero, as in the hardware. Family B knows no special values: an
// infinity or NaN is a number with exponent 255, next to which all others vanish.
//
// Two ways to m. With factor = 2^(bits of m + bias - E), |v| * factor is twice the wanted quotient, exactly, and ((int)(|v| * factor) + 1)
// / 2 rounds it half up: the same few instructions for every element. It needs a factor that is a normal float and finite numbers; the few
// groups of family B without either take the way through integers, where each element is shifted by a distance of its own.
//
// The vector types are written out (GCC's and Clang's extension, four lanes: every x86-64 and ARMv8 has these) because compilers unroll
// loops over sixteen elements before they would vectorise them, which costs a factor of three.
#pragma once

#include <buda/tensor/data_format.hpp>
#include <buda/tensor/formats/quantize.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace buda::datum {

inline constexpr int kGroup = 16;

template <int magnitude_bits, ExponentFamily family>
class BfpGroup {
 public:
  static constexpr int kBits = magnitude_bits + 1;

  // The shared exponent, and one datum (sign above magnitude) for each of 16 numbers.
  static std::uint8_t encode(const float* v, BfpRounding rounding, std::uint32_t* datums) {
    Numbers x = load(v);
    int exponent = shared_exponent(x);
    if (!plain(exponent)) {
      encode_by_shifting(v, exponent, rounding, datums);
    } else {
      const float factor = factor_of(exponent);
      for (int i = 0; i < kVectors; ++i) {
        Ints m = magnitude(x.lanes[i], factor, rounding);
        Ints sign = (x.lanes[i] < 0) & (m != 0) & (1 << magnitude_bits);
        store(m | sign, datums + i * kLanes);
      }
    }
    return static_cast<std::uint8_t>(exponent);
  }

  // The numbers that 16 datums mean. Any byte is understood as an exponent; what no float holds becomes infinite.
  static void decode(std::uint8_t exponent, const std::uint32_t* datums, float* v) {
    if (exponent < magnitude_bits + 2 || exponent > (kFamilyA ? 31 : 254)) return decode_exactly(exponent, datums, v);
    const float unit = unit_of(exponent);
    for (int i = 0; i < kVectors; ++i) {
      Ints d;
      std::memcpy(&d, datums + i * kLanes, sizeof d);
      store(with_sign(d & kMaxMagnitude, unit, (d & (1 << magnitude_bits)) != 0), v + i * kLanes);
    }
  }

  // decode(encode(v)) in place.
  static void quantize(float* v, BfpRounding rounding) {
    Numbers x = load(v);
    int exponent = shared_exponent(x);
    if (!plain(exponent)) return quantize_exactly(v, rounding);
    const float factor = factor_of(exponent);
    const float unit = unit_of(exponent);
    for (int i = 0; i < kVectors; ++i) {
      Ints m = magnitude(x.lanes[i], factor, rounding);
      store(with_sign(m, unit, (x.lanes[i] < 0) & (m != 0)), v + i * kLanes);
    }
  }

 private:
  static constexpr int kLanes = 4;
  static constexpr int kVectors = kGroup / kLanes;
  using Floats [[gnu::vector_size(16)]] = float;
  using Ints [[gnu::vector_size(16)]] = std::int32_t;
  struct Numbers {
    Ints lanes[kVectors];  // the bits of the floats
  };

  static constexpr bool kFamilyA = family == ExponentFamily::a;
  static constexpr int kBias = kFamilyA ? 15 : 127;
  static constexpr int kRebias = 127 - kBias;
  static constexpr std::int32_t kMaxMagnitude = (1 << magnitude_bits) - 1;
  static constexpr std::int32_t kAbs = 0x7fffffff;

  static Numbers load(const float* v) {
    Numbers x;
    std::memcpy(&x, v, sizeof x);
    return x;
  }
  template <class T>
  static void store(const Ints& lanes, T* to) {
    std::memcpy(to, &lanes, sizeof lanes);
  }

  static int shared_exponent(const Numbers& x) {
    // Floats of one sign are ordered as their bits are.
    Ints largest = x.lanes[0] & kAbs;
    for (int i = 1; i < kVectors; ++i) {
      Ints magnitude = x.lanes[i] & kAbs;
      largest = magnitude > largest ? magnitude : largest;
    }
    int exponent = std::max(std::max(largest[0], largest[1]), std::max(largest[2], largest[3])) >> 23;
    return kFamilyA ? std::clamp(exponent - kRebias, 0, 31) : exponent;
  }

  // Whether |v| * factor neither loses bits that count nor lets denormals through.
  static bool plain(int exponent) { return kFamilyA || (exponent >= magnitude_bits + 2 && exponent < 255); }

  static float power_of_two(int exponent) { return std::bit_cast<float>(static_cast<std::uint32_t>(exponent + 127) << 23); }
  static float factor_of(int exponent) { return power_of_two(magnitude_bits + kBias - exponent); }
  static float unit_of(int exponent) { return power_of_two(exponent - kBias - (magnitude_bits - 1)); }
  static std::int32_t increment(BfpRounding rounding) { return rounding == BfpRounding::half_up ? 1 : 0; }

  static Ints magnitude(const Ints& bits, float factor, BfpRounding rounding) {
    constexpr float kMost = 2.0f * kMaxMagnitude;
    Floats twice = std::bit_cast<Floats>(bits & kAbs) * factor;
    twice = twice < kMost ? twice : Floats{kMost, kMost, kMost, kMost};  // NaN, too, becomes the largest
    return (__builtin_convertvector(twice, Ints) + increment(rounding)) >> 1;
  }

  // The bits of ±m * unit.
  static Ints with_sign(const Ints& m, float unit, const Ints& negative) {
    return std::bit_cast<Ints>(__builtin_convertvector(m, Floats) * unit) | (negative & ~kAbs);
  }

  // Family B only: E is not smaller than the exponent of any number.
  [[gnu::noinline]] static void encode_by_shifting(const float* v, int exponent, BfpRounding rounding, std::uint32_t* datums) {
    if (exponent == 0) {  // zeros, which are frequent, and denormals
      std::fill_n(datums, kGroup, 0u);
      return;
    }
    for (int i = 0; i < kGroup; ++i) {
      auto bits = std::bit_cast<std::uint32_t>(v[i]);
      int own = static_cast<int>(bits >> 23 & 255u);
      std::uint32_t significand = own == 0 ? 0 : (bits & 0x7fffffu) | 0x800000u;
      int shift = std::min(exponent - own + 24 - magnitude_bits, 31);
      auto twice = static_cast<std::int32_t>(significand >> (shift - 1));
      std::int32_t m = std::min((twice + increment(rounding)) >> 1, kMaxMagnitude);
      std::uint32_t sign = m == 0 ? 0 : bits >> 31;
      datums[i] = sign << magnitude_bits | static_cast<std::uint32_t>(m);
    }
  }

  [[gnu::noinline]] static void decode_exactly(std::uint8_t exponent, const std::uint32_t* datums, float* v) {
    const double unit = std::ldexp(1.0, exponent - kBias - (magnitude_bits - 1));
    for (int i = 0; i < kGroup; ++i) {
      auto value = static_cast<float>(static_cast<double>(datums[i] & kMaxMagnitude) * unit);
      v[i] = datums[i] >> magnitude_bits != 0 ? -value : value;
    }
  }

  [[gnu::noinline]] static void quantize_exactly(float* v, BfpRounding rounding) {
    if (shared_exponent(load(v)) == 0) {  // zeros, which are frequent, and denormals
      std::fill_n(v, kGroup, 0.0f);
      return;
    }
    std::uint32_t datums[kGroup];
    std::uint8_t exponent = encode(v, rounding, datums);
    decode_exactly(exponent, datums, v);
  }
};

}  // namespace buda::datum
