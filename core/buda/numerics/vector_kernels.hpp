// The kernels for processors with vector instructions: written once, and compiled by each file that includes this for its instruction set,
// so that everything here has internal linkage.
//
// An `Isa` has vectors of 16-bit and of 32-bit integers (GCC's and Clang's vector extension), and the few instructions that the extension
// has no operators for. A panel's columns are lanes.
//
// Products. The slices of A come multiplied by four, so that a signed product of slices is p = ±4m with 12-bit m, and what counts is its
// quotient p / 2^(2+d) for distance d, halves rounded up in magnitude. Where there is an instruction mulhrs, it is
// mulhrs(p, 2^(13-d)) = (p * 2^(13-d) + 2^14) >> 15, once a negative p is made one smaller: it rounds halves towards plus infinity, and ±4m
// is a multiple of four steps of the result, so that the smaller p changes the rounding of exact halves and of nothing else. At distances
// of 13 and more m disappears: m < 2^12.
//
// The end, in 32-bit lanes, is matrix_unit.cpp's `accumulate` without branches. The position of the leading bit is the exponent of the
// number as a float; all bits that follow a leading 1 with a 0 are kept, so that the conversion cannot round up to the next power of two.
#pragma once

#include <buda/numerics/kernels.hpp>

namespace buda::numerics {
namespace {

template <class Isa>
struct VectorKernels {
  using Shorts = typename Isa::Shorts;
  using Ints = typename Isa::Ints;
  using Floats = typename Isa::Floats;
  static constexpr std::size_t kShorts = sizeof(Shorts) / 2, kInts = sizeof(Ints) / 4;

  template <class V, class T>
  static V load(const T* from) {
    V v;
    __builtin_memcpy(&v, from, sizeof v);
    return v;
  }
  template <class V, class T>
  static void store(const V& v, T* to) {
    __builtin_memcpy(to, &v, sizeof v);
  }
  template <class V>
  static V larger(V a, V b) {
    return a > b ? a : b;
  }
  template <class V>
  static V smaller(V a, V b) {
    return a < b ? a : b;
  }
  static Ints all(std::int32_t value) { return Ints{} + value; }
  static Shorts every(std::int16_t value) { return Shorts{} + value; }

  // value / 2^distance, halves towards plus infinity; distances of 31 and more give 0 for |value| < 2^30.
  static Ints shifted(Ints value, Ints distance) {
    distance = smaller(distance, all(31));
    using Unsigned = typename Isa::Unsigned;
    const Ints half = __builtin_bit_cast(Ints, __builtin_bit_cast(Unsigned, all(1) << distance) >> 1);
    return (value + half) >> distance;
  }

  // What `accumulate` does; the sums are not yet multiplied by 2^13.
  template <Dest form>
  static Ints accumulate(Ints sum0, Ints exponent0, Ints sum1, Ints exponent1, Ints dest) {
    constexpr int kKept = form == Dest::fp32 ? 24 : form == Dest::bf16 ? 8 : 11;
    constexpr int kLimit = form == Dest::fp16 ? 32 : 255;
    constexpr std::int32_t kLargest = static_cast<std::int32_t>(form == Dest::fp16 ? kLargestFp16 : kLargestWide);
    const Ints exponent2 = dest >> 23 & 255;
    const Ints significand = ((dest & 0x7fffff) | 0x800000) & (exponent2 != 0);
    const Ints exponent = larger(larger(exponent0, exponent1), exponent2);
    Ints a = shifted(sum0 << 13, exponent - exponent0), b = shifted(sum1 << 13, exponent - exponent1),
         c = shifted(significand, exponent - exponent2);
    if constexpr (form != Dest::fp32) {
      a = (a + 4096) & ~8191;
      b = (b + 4096) & ~8191;
      c = (c + 4096) & ~8191;
    }
    const Ints sign2 = dest >> 31;
    const Ints sum = a + b + ((c ^ sign2) - sign2);
    const Ints sign = sum >> 31, magnitude = (sum ^ sign) - sign;
    const Ints top = (__builtin_bit_cast(Ints, __builtin_convertvector(magnitude & ~(magnitude >> 1), Floats)) >> 23) - 127;
    const Ints zero = all(0), up = smaller(larger(kKept - 1 - top, zero), all(31)), down = larger(top + 1 - kKept, zero);
    Ints rounded = shifted(magnitude << up, down) << (24 - kKept);
    Ints scale = exponent + top - 23;
    if constexpr (form == Dest::fp32) {
      const Ints minus_one = (sum == -1);
      rounded = rounded & ~minus_one;
      scale = scale + (minus_one & 27);
    }
    scale = scale + (rounded >> 24);
    Ints result = (scale << 23) | (rounded & 0x7fffff);
    result = scale >= kLimit ? all(kLargest) : result;
    result = result | (sign & static_cast<std::int32_t>(kSignBit));
    return ((magnitude != 0) & (scale > 0)) & result;
  }

  struct Sum {
    Shorts units, exponent;
  };

  static Sum sum_of_group(const MvmulStep& s, std::size_t row, std::size_t col, std::size_t first) {
    const std::int16_t *be = s.b_exponents + row * s.b_stride + first, *bs = s.b_slices + row * s.b_stride + first;
    const std::int16_t *ae = s.a_exponents + first * kPanel + col, *as = s.a_slices + first * kPanel + col;
    const auto adjustment = static_cast<std::int16_t>(s.adjustment);
    Shorts exponents[8];
    Shorts largest = every(static_cast<std::int16_t>(adjustment > 0 ? 0 : -adjustment));
    for (int i = 0; i < 8; ++i) {
      exponents[i] = load<Shorts>(ae + i * kPanel) + be[i];
      largest = larger(largest, exponents[i]);
    }
    Shorts sum{};
    for (int i = 0; i < 8; ++i) sum = sum + Isa::quotient(load<Shorts>(as + i * kPanel) * bs[i], largest - exponents[i]);
    const Shorts exponent = largest + adjustment;
    return {sum & (exponent > 0), exponent};
  }

  template <Dest form>
  static void mvmul_as(const MvmulStep& s) {
    for (std::size_t row = 0; row < s.rows; ++row)
      for (std::size_t col = 0; col < kPanel; col += kShorts) {
        const Sum first = sum_of_group(s, row, col, 0), second = sum_of_group(s, row, col, 8);
        std::uint32_t* dest = s.dest + row * kPanel + col;
        store(accumulate<form>(Isa::low(first.units), Isa::low(first.exponent), Isa::low(second.units), Isa::low(second.exponent),
                               load<Ints>(dest)),
              dest);
        store(accumulate<form>(Isa::high(first.units), Isa::high(first.exponent), Isa::high(second.units), Isa::high(second.exponent),
                               load<Ints>(dest + kInts)),
              dest + kInts);
      }
  }

  static void mvmul(const MvmulStep& s) {
    if (s.form == Dest::fp32) return mvmul_as<Dest::fp32>(s);
    if (s.form == Dest::bf16) return mvmul_as<Dest::bf16>(s);
    mvmul_as<Dest::fp16>(s);
  }

  template <Dest form>
  static void elwmul_as(const Elementwise& e) {
    const int bias = e.source != Source::fp16 ? -127 : form == Dest::fp32 ? 97 : -15;
    const int adjustment = bias - ((e.phase & 1) != 0 ? 5 : 0) - ((e.phase & 2) != 0 ? 7 : 0);
    const Ints zero_exponent = all(adjustment > 0 ? adjustment : 0);
    for (std::size_t i = 0; i < e.count; i += kInts) {
      const Ints a = load<Ints>(e.a + i), b = load<Ints>(e.b + i);
      const Ints ea = a >> 23 & 255, eb = b >> 23 & 255;
      const Ints sa = (e.phase & 1) != 0 ? a >> 14 & 31 : (a >> 19 & 15) | 16;
      const Ints sb = (e.phase & 2) != 0 ? (b >> 13 & 15) << 3 : (b >> 17 & 63) | 64;
      Ints exponent = ea + eb + adjustment;
      const Ints counts = (ea != 0) & (eb != 0) & (exponent > 0);
      const Ints negative = (a ^ b) >> 31;
      const Ints product = (((sa * sb) ^ negative) - negative) & counts;
      exponent = (exponent & counts) | (zero_exponent & ~counts);
      store(accumulate<form>(product, exponent, Ints{}, Ints{}, load<Ints>(e.dest + i)), e.dest + i);
    }
  }

  static void elwmul(const Elementwise& e) {
    if (e.form == Dest::fp32) return elwmul_as<Dest::fp32>(e);
    if (e.form == Dest::bf16) return elwmul_as<Dest::bf16>(e);
    elwmul_as<Dest::fp16>(e);
  }

  template <Dest form>
  static void elwadd_as(const Elementwise& e, bool accumulates) {
    const bool widens = form == Dest::fp32 && e.source == Source::fp16;
    for (std::size_t i = 0; i < e.count; i += kInts) {
      Ints a = load<Ints>(e.a + i), b = load<Ints>(e.b + i);
      a = a & ((a & 0x7f800000) != 0);
      b = b & ((b & 0x7f800000) != 0);
      const Ints swap = ((a & 0x7fffffff) < (b & 0x7fffffff));
      const Ints large = (b & swap) | (a & ~swap), small = (a & swap) | (b & ~swap);
      const Ints el = large >> 23 & 255, es = small >> 23 & 255;
      const Ints ml = ((large >> 13 & 0x3ff) | 0x400) & (large != 0), ms = ((small >> 13 & 0x3ff) | 0x400) & (small != 0);
      const Ints differs = (large ^ small) >> 31, aligned = shifted(ms, el - es);
      const Ints magnitude = ml + ((aligned ^ differs) - differs);
      const Ints negative = large >> 31;
      const Ints exponent = widens ? el + (97 + ((el != 0) & 15)) : el;
      store(accumulate<form>((magnitude ^ negative) - negative, exponent, Ints{}, Ints{}, accumulates ? load<Ints>(e.dest + i) : Ints{}),
            e.dest + i);
    }
  }

  static void elwadd(const Elementwise& e, bool accumulates) {
    if (e.form == Dest::fp32) return elwadd_as<Dest::fp32>(e, accumulates);
    if (e.form == Dest::bf16) return elwadd_as<Dest::bf16>(e, accumulates);
    elwadd_as<Dest::fp16>(e, accumulates);
  }
};

}  // namespace
}  // namespace buda::numerics
