// SPDX-License-Identifier: Apache-2.0
// Single numbers as the bits of each device format: the arithmetic below packing and quantizing.
//
// Everything here is exact integer arithmetic or multiplication by powers of two, so that results depend neither on the compiler's choice
// of instructions nor on contraction, and is written without branches on data, so that loops over it become vector code.
//
// What each format does to a float32 (reference: the software packer of TT-Buda as told in the netlist specification; where that is
// silent, the packer of the hardware):
//   Float32      nothing.
//   Tf32         drops the 13 low fraction bits.
//   Float16_b    keeps the upper 16 bits (truncates; infinities stay, a NaN may become one).
//   Float16      1-5-10, bias 15, truncates. Exponent field 31 is an ordinary one: the largest value is 131008, which everything larger,
//                infinity and NaN become. Field 0 is zero: there are no denormals, what is below 2^-14 becomes a zero of its sign.
//   Lf8          1-5-2: the upper byte of Float16. Fp8_e4m3 is packed in the same way, because the reference does so.
//   Int8         sign and magnitude, rounded half away from zero, at most 127. NaN becomes 0, here and in the formats below.
//   Int32        sign and magnitude, at most 2^31-1; positive values are truncated, negative ones rounded half away from zero. (The
//                asymmetry is the reference's.)
//   UInt8/16     rounded half up, clamped. Raw formats do the same with a float; with an integer they keep its low bits.
//   Bfp          see bfp_group.hpp.
#pragma once

#include <buda/tensor/data_format.hpp>
#include <buda/tensor/formats/bfp_group.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace buda::datum {

inline constexpr std::int32_t kMaxInt32 = 0x7fffffff;

// floor(v + 0.5) of a value in [0, 2^30): the sum in float would round 0.49999997 up to 1, twice the value is exact.
inline std::int32_t round_half_up(float v) { return (static_cast<std::int32_t>(v * 2.0f) + 1) >> 1; }

// v in [low, high]; NaN becomes `low`.
inline float clamped(float v, float low, float high) {
  float at_least = v > low ? v : low;
  return at_least < high ? at_least : high;
}

inline std::int32_t sign_of(float v) { return static_cast<std::int32_t>(std::bit_cast<std::uint32_t>(v) >> 31); }

inline std::uint32_t sign_magnitude(std::int32_t negative, std::int32_t magnitude, int bits) {
  std::int32_t sign = magnitude == 0 ? 0 : negative;
  return static_cast<std::uint32_t>(sign) << (bits - 1) | static_cast<std::uint32_t>(magnitude);
}

inline std::int32_t from_sign_magnitude(std::uint32_t datum, int bits) {
  auto magnitude = static_cast<std::int32_t>(datum & ((1u << (bits - 1)) - 1));
  return (datum >> (bits - 1)) != 0 ? -magnitude : magnitude;
}

// The integer nearest to a float, halves away from zero, saturating.
inline std::int32_t nearest_int32(float v) {
  double rounded = std::round(static_cast<double>(v));
  if (!(rounded > -0x1p31)) return std::isnan(v) ? 0 : std::numeric_limits<std::int32_t>::min();
  return rounded < 0x1p31 ? static_cast<std::int32_t>(rounded) : kMaxInt32;
}

// A format whose datums do not depend on each other has encode and decode, for floats and for integers.
template <class Format>
struct FloatDatum {
  static std::uint32_t encode(std::int32_t v) { return Format::encode(static_cast<float>(v)); }
  static std::int32_t decode_int(std::uint32_t d) { return nearest_int32(Format::decode(d)); }
};

struct Float32 : FloatDatum<Float32> {
  using FloatDatum::encode;
  static constexpr int kBits = 32;
  static std::uint32_t encode(float v) { return std::bit_cast<std::uint32_t>(v); }
  static float decode(std::uint32_t d) { return std::bit_cast<float>(d); }
};

struct Tf32 : FloatDatum<Tf32> {
  using FloatDatum::encode;
  static constexpr int kBits = 32;
  static std::uint32_t encode(float v) { return std::bit_cast<std::uint32_t>(v) & 0xffffe000u; }
  static float decode(std::uint32_t d) { return std::bit_cast<float>(d); }
};

struct Float16B : FloatDatum<Float16B> {
  using FloatDatum::encode;
  static constexpr int kBits = 16;
  static std::uint32_t encode(float v) { return std::bit_cast<std::uint32_t>(v) >> 16; }
  static float decode(std::uint32_t d) { return std::bit_cast<float>(d << 16); }
};

struct Float16 : FloatDatum<Float16> {
  using FloatDatum::encode;
  static constexpr int kBits = 16;
  static constexpr std::int32_t kRebias = 127 - 15;
  static std::uint32_t encode(float v) {
    std::uint32_t bits = std::bit_cast<std::uint32_t>(v);
    auto magnitude = static_cast<std::int32_t>(bits & 0x7fffffffu);
    std::int32_t rebased = (magnitude >> 13) - (kRebias << 10);
    std::int32_t not_tiny = magnitude < ((kRebias + 1) << 23) ? 0 : rebased;
    std::int32_t result = rebased > 0x7fff ? 0x7fff : not_tiny;
    return (bits >> 16 & 0x8000u) | static_cast<std::uint32_t>(result);
  }
  static float decode(std::uint32_t d) {
    auto magnitude = static_cast<std::int32_t>(d & 0x7fffu);
    std::int32_t wide = magnitude < 0x400 ? 0 : (magnitude << 13) + (kRebias << 23);
    return std::bit_cast<float>((d & 0x8000u) << 16 | static_cast<std::uint32_t>(wide));
  }
};

struct Lf8 : FloatDatum<Lf8> {
  using FloatDatum::encode;
  static constexpr int kBits = 8;
  static std::uint32_t encode(float v) { return Float16::encode(v) >> 8; }
  static float decode(std::uint32_t d) { return Float16::decode(d << 8); }
};

struct Int8 {
  static constexpr int kBits = 8;
  static std::uint32_t encode(float v) {
    float magnitude = clamped(std::fabs(v), 0.0f, 127.0f);
    return sign_magnitude(sign_of(v), round_half_up(magnitude), kBits);
  }
  static std::uint32_t encode(std::int32_t v) {
    std::int32_t c = std::clamp(v, -127, 127);
    return sign_magnitude(c < 0 ? 1 : 0, c < 0 ? -c : c, kBits);
  }
  static float decode(std::uint32_t d) { return static_cast<float>(from_sign_magnitude(d, kBits)); }
  static std::int32_t decode_int(std::uint32_t d) { return from_sign_magnitude(d, kBits); }
};

struct Int32 {
  static constexpr int kBits = 32;
  static constexpr float kLargestBelow = 2147483520.0f;  // the last float before 2^31
  static std::uint32_t encode(float v) {
    float all = std::fabs(v);
    float magnitude = clamped(all, 0.0f, kLargestBelow);
    auto whole = static_cast<std::int32_t>(magnitude);
    // A fraction exists below 2^23 only, so adding 1 cannot overflow.
    std::int32_t up = v < 0.0f && magnitude - static_cast<float>(whole) >= 0.5f ? 1 : 0;
    std::int32_t result = all > kLargestBelow ? kMaxInt32 : whole + up;
    return sign_magnitude(sign_of(v), result, kBits);
  }
  static std::uint32_t encode(std::int32_t v) {
    std::int32_t c = std::max(v, -kMaxInt32);
    return sign_magnitude(c < 0 ? 1 : 0, c < 0 ? -c : c, kBits);
  }
  static float decode(std::uint32_t d) { return static_cast<float>(from_sign_magnitude(d, kBits)); }
  static std::int32_t decode_int(std::uint32_t d) { return from_sign_magnitude(d, kBits); }
};

template <int bits>
struct UInt {
  static constexpr int kBits = bits;
  static constexpr std::int32_t kMax = (1 << bits) - 1;
  static std::uint32_t encode(float v) { return static_cast<std::uint32_t>(round_half_up(clamped(v, 0.0f, static_cast<float>(kMax)))); }
  static std::uint32_t encode(std::int32_t v) { return static_cast<std::uint32_t>(std::clamp(v, 0, kMax)); }
  static float decode(std::uint32_t d) { return static_cast<float>(static_cast<std::int32_t>(d)); }
  static std::int32_t decode_int(std::uint32_t d) { return static_cast<std::int32_t>(d); }
};

template <int bits>
struct RawUInt : UInt<bits> {
  using UInt<bits>::encode;
  static std::uint32_t encode(std::int32_t v) { return static_cast<std::uint32_t>(v) & static_cast<std::uint32_t>(UInt<bits>::kMax); }
};

struct RawUInt32 {
  static constexpr int kBits = 32;
  static std::uint32_t encode(float v) {
    double whole = std::floor(static_cast<double>(clamped(v, 0.0f, 0x1p32f)) + 0.5);
    return static_cast<std::uint32_t>(std::min(whole, 4294967295.0));
  }
  static std::uint32_t encode(std::int32_t v) { return static_cast<std::uint32_t>(v); }
  static float decode(std::uint32_t d) { return static_cast<float>(d); }
  static std::int32_t decode_int(std::uint32_t d) { return static_cast<std::int32_t>(d); }
};

// Calls f(codec) with the codec of a format, as a value of its type; `elementwise` codecs have encode and decode of one datum, the others
// are Bfp groups. Nothing is called for `invalid`.
template <class Elementwise, class Grouped>
void with_codec(DataFormat format, Elementwise&& elementwise, Grouped&& grouped) {
  switch (format) {
    case DataFormat::float32:
      return elementwise(Float32{});
    case DataFormat::tf32:
      return elementwise(Tf32{});
    case DataFormat::float16:
      return elementwise(Float16{});
    case DataFormat::float16_b:
      return elementwise(Float16B{});
    case DataFormat::lf8:
    case DataFormat::fp8_e4m3:
      return elementwise(Lf8{});
    case DataFormat::int8:
      return elementwise(Int8{});
    case DataFormat::int32:
      return elementwise(Int32{});
    case DataFormat::uint8:
      return elementwise(UInt<8>{});
    case DataFormat::uint16:
      return elementwise(UInt<16>{});
    case DataFormat::raw_uint8:
      return elementwise(RawUInt<8>{});
    case DataFormat::raw_uint16:
      return elementwise(RawUInt<16>{});
    case DataFormat::raw_uint32:
      return elementwise(RawUInt32{});
    case DataFormat::bfp8:
      return grouped(BfpGroup<7, ExponentFamily::a>{});
    case DataFormat::bfp8_b:
      return grouped(BfpGroup<7, ExponentFamily::b>{});
    case DataFormat::bfp4:
      return grouped(BfpGroup<3, ExponentFamily::a>{});
    case DataFormat::bfp4_b:
      return grouped(BfpGroup<3, ExponentFamily::b>{});
    case DataFormat::bfp2:
      return grouped(BfpGroup<1, ExponentFamily::a>{});
    case DataFormat::bfp2_b:
      return grouped(BfpGroup<1, ExponentFamily::b>{});
    case DataFormat::invalid:
      return;
  }
}

}  // namespace buda::datum
