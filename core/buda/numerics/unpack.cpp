// SPDX-License-Identifier: Apache-2.0
// Conversions of the unpackers.
#include <buda/numerics/unpack.hpp>

#include <buda/numerics/kernels.hpp>
#include <buda/numerics/matrix_unit.hpp>

#include <array>
#include <bit>
#include <cstring>
#include <vector>

namespace buda::numerics {
namespace {

std::uint32_t from_float32(Source as, std::uint32_t bits) {
  if (as == Source::fp16) return narrowed(bits);
  if (as == Source::tf32) return bits & 0xffffe000u;
  return is_zero(bits) ? sign_of(bits) : bits & 0xffff0000u;
}

// A normalised number 1.f * 2^(exponent - bias) with 6 bits of f; the exponent may be out of range.
std::uint32_t normalised(ExponentFamily family, std::uint32_t sign, int exponent, std::uint32_t fraction6) {
  if (family == ExponentFamily::a) exponent = exponent < 0 ? 0 : exponent & 31;
  return sign | static_cast<std::uint32_t>(exponent & 255) << 23 | fraction6 << 17;
}

// The largest negative number: what a Bfp datum with a sign and nothing else means.
std::uint32_t minus_infinity(ExponentFamily family) { return family == ExponentFamily::a ? kSignBit | 31u << 23 : kSignBit | kLargestWide; }

std::uint32_t unpack_bfp(DataFormat format, std::uint32_t datum, int exponent) {
  const int bits = bfp_magnitude_bits(format);
  const std::uint32_t magnitude = datum & ((1u << bits) - 1), sign = (datum >> bits & 1) << 31;
  if (magnitude == 0) return sign == 0 ? 0 : minus_infinity(exponent_family(format));
  const std::uint32_t seven = magnitude << (7 - bits);
  const int zeros = std::countl_zero(static_cast<std::uint8_t>(seven << 1));
  return normalised(exponent_family(format), sign, exponent - zeros, (seven << zeros) & 63);
}

// What the datums of a Bfp format become with the exponent 0, and how far their leading bits are below the first.
struct BfpTable {
  std::array<std::uint32_t, 256> words = {};
  std::array<std::uint8_t, 256> zeros = {};
  explicit BfpTable(DataFormat format) {
    const int bits = bfp_magnitude_bits(format);
    for (std::uint32_t datum = 0; datum < 2u << bits; ++datum) {
      const std::uint32_t magnitude = datum & ((1u << bits) - 1);
      words[datum] = unpack_bfp(format, datum, 0) & ~(magnitude == 0 ? 0 : kExponent);
      zeros[datum] = static_cast<std::uint8_t>(magnitude == 0 ? kNothing : bits - std::bit_width(magnitude));
    }
  }
  static constexpr std::uint8_t kNothing = 255;  // of datums on which the exponent has no influence
  static constexpr std::uint32_t kExponent = 0x7f800000u;
};

const BfpTable& table_of(DataFormat format) {
  static const std::array<BfpTable, 6> tables = {BfpTable(DataFormat::bfp8),   BfpTable(DataFormat::bfp4),   BfpTable(DataFormat::bfp2),
                                                 BfpTable(DataFormat::bfp8_b), BfpTable(DataFormat::bfp4_b), BfpTable(DataFormat::bfp2_b)};
  switch (format) {
    case DataFormat::bfp8:
      return tables[0];
    case DataFormat::bfp4:
      return tables[1];
    case DataFormat::bfp2:
      return tables[2];
    case DataFormat::bfp8_b:
      return tables[3];
    case DataFormat::bfp4_b:
      return tables[4];
    default:
      return tables[5];
  }
}

template <unsigned bits>
void unpack_bfp_datums(const DatumsInL1& from, std::size_t first, std::span<std::uint32_t> words) {
  const BfpTable& table = table_of(from.format);
  const bool narrow = exponent_family(from.format) == ExponentFamily::a;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::size_t at = first + i;
    const std::size_t datum = from.datums[at * bits / 8] >> (at * bits % 8) & ((1u << bits) - 1);
    const int zeros = table.zeros[datum], exponent = from.exponents[at / 16] - zeros;
    const auto field = static_cast<std::uint32_t>(narrow ? (exponent < 0 ? 0 : exponent & 31) : exponent & 255) << 23;
    words[i] = table.words[datum] | (zeros == BfpTable::kNothing ? 0 : field);
  }
}

// Each datum is an unsigned number of this type.
template <class Datum, class Convert>
void convert(const DatumsInL1& from, std::size_t first, std::span<std::uint32_t> words, Convert convert_one) {
  const std::uint8_t* at = from.datums + first * sizeof(Datum);
  for (std::size_t i = 0; i < words.size(); ++i) {
    Datum datum;
    std::memcpy(&datum, at + i * sizeof(Datum), sizeof(Datum));
    words[i] = convert_one(std::uint32_t{datum});
  }
}

std::uint32_t unpack_bfp_value(DataFormat format, float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t magnitude = magnitude_of(bits);
  const ExponentFamily family = exponent_family(format);
  if (magnitude == 0) return bits == 0 ? 0 : minus_infinity(family);
  int exponent = exponent_of(bits);
  std::uint32_t fraction = bits & 0x7fffffu;
  if (exponent == 0) {
    const int zeros = std::countl_zero(magnitude) - 8;
    exponent = 1 - zeros;
    fraction = magnitude << zeros & 0x7fffffu;
  }
  return normalised(family, sign_of(bits), family == ExponentFamily::a ? exponent - kRebias : exponent, fraction >> 17);
}

}  // namespace

Source source_of(DataFormat format) {
  if (exponent_family(format) == ExponentFamily::a) return Source::fp16;
  return format == DataFormat::float32 || format == DataFormat::tf32 ? Source::tf32 : Source::bf16;
}

Source copy_source_of(DataFormat format, Dest dest) {
  const Source source = source_of(format);
  if (source != Source::tf32 || dest == Dest::fp32) return source;
  return dest == Dest::fp16 ? Source::fp16 : Source::bf16;
}

std::uint32_t unpack_datum(DataFormat format, Source as, std::uint32_t datum, std::uint8_t exponent) {
  if (is_bfp(format)) return unpack_bfp(format, datum, exponent);
  switch (format) {
    case DataFormat::float16_b:
      return datum << 16;
    case DataFormat::float16:
      return word_of_fp16(datum);
    case DataFormat::lf8:
    case DataFormat::fp8_e4m3:
      return word_of_fp16(datum << 8);
    default:
      return from_float32(as, datum);
  }
}

void unpack_datums(const DatumsInL1& from, std::size_t first, std::span<std::uint32_t> words) {
  switch (from.format) {
    case DataFormat::bfp8:
    case DataFormat::bfp8_b:
      return unpack_bfp_datums<8>(from, first, words);
    case DataFormat::bfp4:
    case DataFormat::bfp4_b:
      return unpack_bfp_datums<4>(from, first, words);
    case DataFormat::bfp2:
    case DataFormat::bfp2_b:
      return unpack_bfp_datums<2>(from, first, words);
    case DataFormat::float16_b:
      return convert<std::uint16_t>(from, first, words, [](std::uint32_t datum) { return datum << 16; });
    case DataFormat::float16:
      return convert<std::uint16_t>(from, first, words, [](std::uint32_t datum) { return word_of_fp16(datum); });
    case DataFormat::lf8:
    case DataFormat::fp8_e4m3:
      return convert<std::uint8_t>(from, first, words, [](std::uint32_t datum) { return word_of_fp16(datum << 8); });
    default:
      return convert<std::uint32_t>(from, first, words, [as = from.as](std::uint32_t datum) { return from_float32(as, datum); });
  }
}

void unpack(DataFormat format, Source as, std::span<const float> numbers, std::span<std::uint32_t> words) {
  const bool bfp = is_bfp(format), half = exponent_family(format) == ExponentFamily::a;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto bits = std::bit_cast<std::uint32_t>(numbers[i]);
    words[i] = bfp                               ? unpack_bfp_value(format, numbers[i])
               : half                            ? narrowed(bits)
               : format == DataFormat::float16_b ? bits
                                                 : from_float32(as, bits);
  }
}

void copy_to_dest(DataFormat format, Dest dest, std::span<const float> numbers, std::span<std::uint32_t> words) {
  if (dest == Dest::fp32 && source_of(format) == Source::tf32) {
    for (std::size_t i = 0; i < numbers.size(); ++i) words[i] = std::bit_cast<std::uint32_t>(numbers[i]);
    return;
  }
  const Source as = copy_source_of(format, dest);
  if (dest != Dest::fp32 && (as == Source::fp16) != (dest == Dest::fp16)) {
    // No unpacker changes the width of exponents. Kernels have no such buffers; what would be in them keeps its value as far as it can.
    for (std::size_t i = 0; i < numbers.size(); ++i)
      words[i] = move_to_dest(dest_of_value(dest, numbers[i]) & (dest == Dest::bf16 ? 0xffff0000u : 0xffffe000u));
    return;
  }
  unpack(format, as, numbers, words);
  if (dest != Dest::fp32) {
    for (std::uint32_t& word : words) word = move_to_dest(word);
    return;
  }
  for (std::uint32_t& word : words) word = elwadd(as, dest, word, 0, 0);
}

float value_of_dest(Dest dest, std::uint32_t word) {
  if (dest != Dest::fp16) return std::bit_cast<float>(word);
  return std::bit_cast<float>(is_zero(word) ? sign_of(word) : widened(word));
}

std::uint32_t dest_of_value(Dest dest, float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return dest == Dest::fp16 ? narrowed(bits) : bits;
}

}  // namespace buda::numerics
