// SPDX-License-Identifier: Apache-2.0
// How the matrix unit adds to a number of the destination, for vectors of any width; included as vector_kernels.hpp is.
//
// It is matrix_unit.cpp's `accumulate` without branches, in lanes of 32 bits. The position of the leading bit is the exponent of the number
// as a float. For a destination of 16 bits that float is exact, and is rounded as it is. Otherwise all bits that follow a leading 1 with a
// 0 are kept, so that the conversion cannot round up to the next power of two.
#pragma once

#include <buda/numerics/registers.hpp>

namespace buda::numerics {
namespace {

// `Isa`: vectors of as many bits of 32-bit integers, also without sign, and of floats (GCC's and Clang's extension).
template <class Isa>
struct Accumulation {
  using Ints = typename Isa::Ints;
  using Floats = typename Isa::Floats;

  template <class V>
  static V larger(V a, V b) {
    return a > b ? a : b;
  }
  template <class V>
  static V smaller(V a, V b) {
    return a < b ? a : b;
  }
  static Ints all(std::int32_t value) { return Ints{} + value; }

  // value / 2^distance, halves towards plus infinity; distances of 31 and more give 0 for |value| < 2^30.
  static Ints shifted(Ints value, Ints distance) {
    distance = smaller(distance, all(31));
    using Unsigned = typename Isa::Unsigned;
    const Ints half = __builtin_bit_cast(Ints, __builtin_bit_cast(Unsigned, all(1) << distance) >> 1);
    return (value + half) >> distance;
  }

  // A destination of 16 bits rounds each number twice: at the largest exponent, and to a multiple of 2^13. Of
  // floor((floor((value + half) / 2^distance) + 2^12) / 2^13) the inner floor changes nothing, so that both are one shift. At the largest
  // distances nothing is left.
  //
  // Of value * 2^13, for |value| < 2^15.
  static Ints shifted_unit(Ints value, Ints distance) {
    distance = smaller(distance, all(17));
    const Ints power = all(1) << distance;
    return (value + (power >> 1) + (power >> 14)) >> distance;
  }
  static Ints shifted_significand(Ints value, Ints distance) {
    distance = smaller(distance, all(13));
    const Ints power = all(1) << distance;
    return (value + (power >> 1) + (power << 12)) >> (distance + 13);
  }

  static Ints exponent_of(Ints number) { return number >> 23 & 255; }
  static Ints significand_of(Ints number) { return ((number & 0x7fffff) | 0x800000) & (exponent_of(number) != 0); }
  static Ints with_sign(Ints magnitude, Ints sign) { return (magnitude ^ sign) - sign; }

  // What `accumulate` does; the sums are not yet multiplied by 2^13.
  template <Dest form>
  static Ints accumulate(Ints sum0, Ints exponent0, Ints sum1, Ints exponent1, Ints dest) {
    if constexpr (form == Dest::fp32) return accumulate_wide(sum0, exponent0, sum1, exponent1, dest);
    constexpr int kDropped = form == Dest::bf16 ? 16 : 13;  // bits of a float
    constexpr int kLimit = form == Dest::fp16 ? 32 : 255;
    constexpr auto kLargest = static_cast<std::int32_t>(form == Dest::fp16 ? kLargestFp16 : kLargestWide);
    const Ints exponent2 = exponent_of(dest), exponent = larger(larger(exponent0, exponent1), exponent2);
    const Ints sum = shifted_unit(sum0, exponent - exponent0) + shifted_unit(sum1, exponent - exponent1) +
                     with_sign(shifted_significand(significand_of(dest), exponent - exponent2), dest >> 31);
    // Halves are rounded up in magnitude; a carry makes the exponent larger by one.
    const Ints rounded = (__builtin_bit_cast(Ints, __builtin_convertvector(sum, Floats)) + (1 << (kDropped - 1))) & -(1 << kDropped);
    const Ints moved = exponent + (13 - 23 - 127), scale = exponent_of(rounded) + moved;
    const Ints largest = (rounded & static_cast<std::int32_t>(kSignBit)) | kLargest;
    const Ints result = scale >= kLimit ? largest : rounded + (moved << 23);
    return ((sum != 0) & (scale > 0)) & result;
  }

  static Ints accumulate_wide(Ints sum0, Ints exponent0, Ints sum1, Ints exponent1, Ints dest) {
    const Ints exponent2 = exponent_of(dest), exponent = larger(larger(exponent0, exponent1), exponent2);
    const Ints sum = shifted(sum0 << 13, exponent - exponent0) + shifted(sum1 << 13, exponent - exponent1) +
                     with_sign(shifted(significand_of(dest), exponent - exponent2), dest >> 31);
    const Ints sign = sum >> 31, magnitude = with_sign(sum, sign);
    const Ints top = (__builtin_bit_cast(Ints, __builtin_convertvector(magnitude & ~(magnitude >> 1), Floats)) >> 23) - 127;
    const Ints zero = all(0), up = smaller(larger(23 - top, zero), all(31)), down = larger(top - 23, zero);
    // Wormhole loses -1, as matrix_unit.cpp says.
    const Ints minus_one = (sum == -1), rounded = shifted(magnitude << up, down) & ~minus_one;
    const Ints scale = exponent + (top - 23) + (minus_one & 27) + (rounded >> 24);
    Ints result = (scale << 23) | (rounded & 0x7fffff);
    result = scale >= 255 ? all(static_cast<std::int32_t>(kLargestWide)) : result;
    result = result | (sign & static_cast<std::int32_t>(kSignBit));
    return ((magnitude != 0) & (scale > 0)) & result;
  }
};

}  // namespace
}  // namespace buda::numerics
