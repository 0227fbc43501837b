// SPDX-License-Identifier: Apache-2.0
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
#pragma once

#include <buda/numerics/kernels.hpp>
#include <buda/numerics/vector_accumulate.hpp>

namespace buda::numerics {
namespace {

template <class Isa>
struct VectorKernels {
  using Adder = Accumulation<Isa>;
  using Shorts = typename Isa::Shorts;
  using Ints = typename Isa::Ints;
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
  static Shorts every(std::int16_t value) { return Shorts{} + value; }

  struct Sum {
    Shorts units, exponent;
  };

  [[gnu::always_inline]] static Sum sum_of_group(const MvmulStep& s, std::size_t row, std::size_t col, std::size_t first) {
    const std::int16_t *be = s.b_exponents + row * s.b_stride + first, *bs = s.b_slices + row * s.b_stride + first;
    const std::int16_t *ae = s.a_exponents + first * kPanel + col, *as = s.a_slices + first * kPanel + col;
    const auto adjustment = static_cast<std::int16_t>(s.adjustment);
    Shorts exponents[8];
    Shorts largest = every(static_cast<std::int16_t>(adjustment > 0 ? 0 : -adjustment));
    for (int i = 0; i < 8; ++i) {
      exponents[i] = load<Shorts>(ae + i * kPanel) + be[i];
      largest = Adder::larger(largest, exponents[i]);
    }
    Shorts sum{};
    for (int i = 0; i < 8; i += 2)
      sum = sum + Isa::quotients(load<Shorts>(as + i * kPanel) * bs[i], largest - exponents[i],
                                 load<Shorts>(as + (i + 1) * kPanel) * bs[i + 1], largest - exponents[i + 1]);
    const Shorts exponent = largest + adjustment;
    return {sum & (exponent > 0), exponent};
  }

  static std::uint32_t* dest_at(const MvmulStep& s, std::size_t row, std::size_t col) {
    return s.dest[col / (kPanel / 2)] + row * s.dest_stride + col % (kPanel / 2);
  }

  template <Dest form>
  static void mvmul_as(const MvmulStep& s) {
    for (std::size_t row = 0; row < s.rows; ++row)
      for (std::size_t col = 0; col < kPanel; col += kShorts) {
        const Sum first = sum_of_group(s, row, col, 0), second = sum_of_group(s, row, col, 8);
        std::uint32_t *low = dest_at(s, row, col), *high = dest_at(s, row, col + kInts);
        store(Adder::template accumulate<form>(Isa::low(first.units), Isa::low(first.exponent), Isa::low(second.units),
                                               Isa::low(second.exponent), load<Ints>(low)),
              low);
        store(Adder::template accumulate<form>(Isa::high(first.units), Isa::high(first.exponent), Isa::high(second.units),
                                               Isa::high(second.exponent), load<Ints>(high)),
              high);
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
    const Ints zero_exponent = Adder::all(adjustment > 0 ? adjustment : 0);
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
      store(Adder::template accumulate<form>(product, exponent, Ints{}, Ints{}, load<Ints>(e.dest + i)), e.dest + i);
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
      const Ints differs = (large ^ small) >> 31, aligned = Adder::shifted(ms, el - es);
      const Ints magnitude = ml + ((aligned ^ differs) - differs);
      const Ints negative = large >> 31;
      const Ints exponent = widens ? el + (97 + ((el != 0) & 15)) : el;
      store(Adder::template accumulate<form>((magnitude ^ negative) - negative, exponent, Ints{}, Ints{},
                                             accumulates ? load<Ints>(e.dest + i) : Ints{}),
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
