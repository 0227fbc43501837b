// SPDX-License-Identifier: Apache-2.0
// The packer's stages, on words whose fields stand as in registers.hpp.
#include <buda/numerics/pack.hpp>

#include <buda/numerics/fields.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace buda::numerics {
namespace {

bool narrow(Intermediate intermediate) { return intermediate == Intermediate::fp16 || intermediate == Intermediate::e5m6; }

// Rounds magnitudes half up to a multiple of `unit`, a power of two.
std::uint32_t nearest(std::uint32_t word, std::uint32_t unit) { return (word + unit / 2) & ~(unit - 1); }

using Group = std::span<std::uint32_t, 16>;

template <class Convert>
void each(Group words, Convert convert) {
  for (std::uint32_t& word : words) word = convert(word);
}

std::uint32_t flushed(std::uint32_t word) { return is_zero(word) ? 0 : word; }

std::uint32_t without_nan(std::uint32_t w) { return magnitude_of(w) > kLargestWide ? sign_of(w) | kLargestWide : w; }

template <bool from_bf16>
std::uint32_t as_bf16(std::uint32_t w) {
  return flushed(nearest(from_bf16 ? flushed(without_nan(w)) : without_nan(w), 1u << 16));
}

// take(number, as_bf16(word)) for each; two loops, since the compiler makes vectors of each.
template <class Take>
void each_as_bf16(Dest dest, std::span<const std::uint32_t> words, Take take) {
  if (dest == Dest::bf16) {
    for (std::size_t i = 0; i < words.size(); ++i) take(i, as_bf16<true>(words[i]));
  } else {
    for (std::size_t i = 0; i < words.size(); ++i) take(i, as_bf16<false>(words[i]));
  }
}

void early(const Packing& p, Group words) {
  switch (p.intermediate) {
    case Intermediate::wide:
      return;
    case Intermediate::bf16:
      return p.dest == Dest::bf16 ? each(words, [](std::uint32_t w) { return as_bf16<true>(w); })
                                  : each(words, [](std::uint32_t w) { return as_bf16<false>(w); });
    case Intermediate::e8m6:
      if (p.dest == Dest::bf16) each(words, [&](std::uint32_t w) { return flushed(without_nan(w)); });
      return each(words, [&](std::uint32_t w) { return flushed(nearest(without_nan(w) & 0xffff0000u, 1u << 17)); });
    case Intermediate::fp16:
      return each(words, [](std::uint32_t w) { return flushed(w); });
    case Intermediate::e5m6:
      return each(words, [](std::uint32_t w) {
        constexpr std::uint32_t kLargestE5m6 = 31u << 23 | 0x3f0u << 13;
        return flushed(nearest(magnitude_of(w) > (31u << 23 | 0x3f7u << 13) ? sign_of(w) | kLargestE5m6 : w, 1u << 17));
      });
  }
}

// The threshold in the form of the intermediate's words.
std::uint32_t threshold_word(const Packing& p) {
  const auto bits = std::bit_cast<std::uint32_t>(p.threshold);
  if (!narrow(p.intermediate)) return bits & 0xffff0000u;
  const int exponent = exponent_of(bits) - kRebias;
  return exponent <= 0 ? 0 : exponent > 31 ? kLargestFp16 : at_exponent(exponent) | (bits & 0x7fe000u);
}

std::uint32_t relu(const Packing& p, std::uint32_t threshold, std::uint32_t word) {
  if (is_negative(word)) return 0;
  // Where numbers have 32 bits, what exceeds the threshold by less than a tf32 can tell is not above it.
  const int ignored = p.intermediate == Intermediate::wide ? 13 : 0;
  if (p.relu == PackerRelu::min_threshold && word <= threshold) return 0;
  if (p.relu == PackerRelu::max_threshold && word >> ignored > threshold >> ignored) return threshold;
  return word;
}

// What formats of 32, 16 and 8 bits get, and of Bfp formats the word from which the group is made.
void late(const Packing& p, Group words) {
  const bool from_narrow = narrow(p.intermediate);
  const auto as_narrow = [&] {
    if (!from_narrow) each(words, [](std::uint32_t w) { return narrowed(w); });
  };
  const auto as_wide = [&] {
    if (from_narrow) each(words, [](std::uint32_t w) { return widened(w); });
  };
  switch (p.out) {
    case DataFormat::float16:
      as_narrow();
      return each(words, [](std::uint32_t w) { return fp16_of_word(w); });
    case DataFormat::lf8:
    case DataFormat::fp8_e4m3:
      as_narrow();
      return each(words, [](std::uint32_t w) { return fp16_of_word(w) >> 8; });
    case DataFormat::float16_b:
      as_wide();
      return each(words, [](std::uint32_t w) { return w >> 16; });
    case DataFormat::bfp8:
    case DataFormat::bfp4:
    case DataFormat::bfp2:
      return as_narrow();
    default:
      return as_wide();
  }
}

std::uint8_t form_group(DataFormat out, Group words) {
  int shared = 0;
  for (std::uint32_t word : words) shared = std::max(shared, exponent_of(word));
  const int bits = bfp_magnitude_bits(out);
  for (std::uint32_t& word : words) {
    const int shift = std::min(shared - exponent_of(word), 9);  // more leaves nothing, either
    const std::uint32_t significand = exponent_of(word) == 0 ? 0 : 128 | (word >> 16 & 127);
    const std::uint32_t rounded = std::min((significand + (1u << shift)) >> (shift + 1), 127u) >> (7 - bits);
    const std::uint32_t magnitude = shift >= 8 ? 0 : rounded;
    word = magnitude == 0 ? 0 : (word >> 31) << bits | magnitude;
  }
  return static_cast<std::uint8_t>(shared);
}

float float_of_fp16(std::uint32_t half) {
  const std::uint32_t word = word_of_fp16(half);
  return std::bit_cast<float>(is_zero(word) ? sign_of(word) : widened(word));
}

std::uint32_t flushed_float32(std::uint32_t bits) { return is_zero(bits) ? sign_of(bits) : bits; }

std::uint32_t sum_float32(std::uint32_t a, std::uint32_t b) {
  const float sum = std::bit_cast<float>(flushed_float32(a)) + std::bit_cast<float>(flushed_float32(b));
  return std::isnan(sum) ? 0x7fc00000u : flushed_float32(std::bit_cast<std::uint32_t>(sum));
}

// The bits of a double's sign, exponent (with float's bias) and fraction, rounded to the nearest even 7 bits.
std::uint32_t bf16_from_double(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const auto sign = static_cast<std::uint32_t>(bits >> 63) << 15;
  const int exponent = static_cast<int>(bits >> 52 & 0x7ff) - 1023 + 127;
  if (exponent <= 0) return sign;
  if (exponent >= 255) return sign | 0x7f80u;
  constexpr int kDropped = 52 - 7;
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << 52) - 1), odd = fraction >> kDropped & 1;
  const auto rounded = static_cast<std::uint32_t>((fraction + (std::uint64_t{1} << (kDropped - 1)) - 1 + odd) >> kDropped);
  return sign | ((static_cast<std::uint32_t>(exponent) << 7) + rounded);
}

// A NaN counts as a number: where it is in L1, as one beyond all others; where it arrives, as one of exponent 255.
std::uint32_t sum_bf16(std::uint32_t there, std::uint32_t arriving) {
  constexpr std::uint32_t kInfinity = 0x7f80u, kSign = 0x8000u;
  if ((there & ~kSign) == kInfinity && (there ^ arriving) == kSign) return 0x7fc0u;
  const auto value = [](std::uint32_t h) { return static_cast<double>(std::bit_cast<float>(flushed_float32(h << 16))); };
  double a = value(there), b = value(arriving);
  if ((there & ~kSign) > kInfinity) a = std::copysign(std::numeric_limits<double>::max(), (there & kSign) != 0 ? -1.0 : 1.0);
  if ((arriving & ~kSign) > kInfinity)
    b = std::copysign(std::ldexp(1.0 + (arriving & 127) / 128.0, 128), (arriving & kSign) != 0 ? -1.0 : 1.0);
  return bf16_from_double(a + b);
}

std::uint32_t sum_fp16(std::uint32_t there, std::uint32_t arriving) {
  constexpr std::uint32_t kLargest = 0x7fffu;
  const auto sum = std::bit_cast<std::uint32_t>(float_of_fp16(there) + float_of_fp16(arriving));
  const std::uint32_t sign = sum >> 16 & 0x8000u;
  if (magnitude_of(sum) == 0) return sign | ((there >> 10 & 31) >= 30 ? kLargest : 0);
  const int exponent = exponent_of(sum) - kRebias;
  if (exponent <= 0) return sign | (exponent < 0 ? kLargest : 0);
  const std::uint32_t fraction = sum & 0x7fffffu;
  const std::uint32_t packed = (static_cast<std::uint32_t>(exponent) << 10) + ((fraction + 0xfffu + (fraction >> 13 & 1)) >> 13);
  return sign | std::min(packed, kLargest);
}

// The datum of a value that the format can hold: Float32, Float16_b or Float16.
std::uint32_t datum_of_value(DataFormat format, float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (format == DataFormat::float32) return bits;
  return format == DataFormat::float16_b ? bits >> 16 : fp16_of_word(narrowed(bits));
}

}  // namespace

Packing packing_for(Dest dest, DataFormat out) {
  Packing p;
  p.dest = dest;
  p.out = out;
  const bool family_a = exponent_family(out) == ExponentFamily::a;
  if (dest == Dest::fp16) {
    p.intermediate = is_bfp(out) ? Intermediate::e5m6 : Intermediate::fp16;
  } else if (is_bfp(out) && !family_a) {
    p.intermediate = Intermediate::e8m6;
  } else if (dest == Dest::fp32 && (family_a || out == DataFormat::float32)) {
    p.intermediate = Intermediate::wide;
  } else {
    p.intermediate = Intermediate::bf16;
  }
  return p;
}

std::uint8_t pack_group(const Packing& packing, std::span<const std::uint32_t, 16> words, std::span<std::uint32_t, 16> datums) {
  const std::uint32_t threshold = threshold_word(packing);
  std::copy_n(words.begin(), 16, datums.begin());
  early(packing, datums);
  if (packing.relu != PackerRelu::none) each(datums, [&](std::uint32_t word) { return relu(packing, threshold, word); });
  late(packing, datums);
  return is_bfp(packing.out) ? form_group(packing.out, datums) : std::uint8_t{0};
}

bool packs_as_bf16(const Packing& packing) {
  return packing.intermediate == Intermediate::bf16 && packing.out == DataFormat::float16_b && packing.relu == PackerRelu::none;
}

void pack_as_bf16(Dest dest, std::span<const std::uint32_t> words, std::uint8_t* datums) {
  each_as_bf16(dest, words, [datums](std::size_t i, std::uint32_t word) {
    const auto datum = static_cast<std::uint16_t>(word >> 16);
    std::memcpy(datums + i * sizeof datum, &datum, sizeof datum);
  });
}

float value_of_datum(DataFormat format, std::uint32_t datum, std::uint8_t exponent) {
  if (is_bfp(format)) {
    const int bits = bfp_magnitude_bits(format), bias = exponent_family(format) == ExponentFamily::a ? 15 : 127;
    const double magnitude = std::ldexp(static_cast<double>(datum & ((1u << bits) - 1)), exponent - bias - (bits - 1));
    return static_cast<float>((datum >> bits & 1) != 0 ? -magnitude : magnitude);
  }
  switch (format) {
    case DataFormat::float16_b:
      return std::bit_cast<float>(datum << 16);
    case DataFormat::float16:
      return float_of_fp16(datum);
    case DataFormat::lf8:
    case DataFormat::fp8_e4m3:
      return float_of_fp16(datum << 8);
    default:
      return std::bit_cast<float>(datum);
  }
}

void pack(const Packing& packing, std::span<const std::uint32_t> words, std::span<float> values) {
  if (packs_as_bf16(packing))
    return each_as_bf16(packing.dest, words, [values](std::size_t i, std::uint32_t word) { values[i] = std::bit_cast<float>(word); });
  std::array<std::uint32_t, 16> datums{};
  for (std::size_t i = 0; i + 16 <= words.size(); i += 16) {
    const std::uint8_t exponent = pack_group(packing, words.subspan(i).first<16>(), datums);
    for (std::size_t k = 0; k < 16; ++k) values[i + k] = value_of_datum(packing.out, datums[k], exponent);
  }
}

bool can_accumulate_in_l1(DataFormat format) {
  return format == DataFormat::float32 || format == DataFormat::float16_b || format == DataFormat::float16;
}

std::uint32_t accumulate_in_l1(DataFormat format, std::uint32_t there, std::uint32_t arriving) {
  if (format == DataFormat::float16_b) return sum_bf16(there, arriving);
  return format == DataFormat::float16 ? sum_fp16(there, arriving) : sum_float32(there, arriving);
}

float sum_in_l1(DataFormat format, float there, float arriving) {
  return value_of_datum(format, accumulate_in_l1(format, datum_of_value(format, there), datum_of_value(format, arriving)), 0);
}

}  // namespace buda::numerics
