// SPDX-License-Identifier: Apache-2.0
// Every bit pattern that a tile can show, and every float of 16 bits on its way into one, with every version of the kernels.
#include <buda/tensor/formats/bfp_kernels.hpp>
#include <buda/tensor/formats/tile_layout.hpp>

#include "reference_formats.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>

namespace buda {
namespace {

using datum::BfpKernels;

// A matrix of one row whose tiles of 1x32 hold the patterns 0, 1, 2, … of a format with whole bytes; the last pattern is the row's end.
std::string tiles_of_every_pattern(DataFormat f) {
  TileLayout layout{f, {1, 32}};
  std::size_t bytes = static_cast<std::size_t>(bits_per_datum(f)) / 8, patterns = std::size_t{1} << (8 * bytes);
  std::vector<float> zeros(patterns, 0.0f);
  std::string tiles = pack_matrix(layout, std::span<const float>(zeros), 1, patterns).value();
  for (std::size_t p = 0; p < patterns; ++p)
    for (std::size_t b = 0; b < bytes; ++b)
      tiles[p / 32 * layout.bytes() + 16 + p % 32 * bytes + b] = static_cast<char>(p >> (8 * b) & 255);
  return tiles;
}

// Unpacks every pattern, compares with `meaning`, and packs the numbers again, which must give `again` (pattern).
template <class T>
void check_patterns(DataFormat f, const std::function<T(std::uint32_t)>& meaning, const std::function<std::uint32_t(std::uint32_t)>& again) {
  TileLayout layout{f, {1, 32}};
  std::string tiles = tiles_of_every_pattern(f);
  std::size_t bytes = static_cast<std::size_t>(bits_per_datum(f)) / 8, patterns = std::size_t{1} << (8 * bytes);
  std::vector<T> values(patterns);
  ASSERT_TRUE(unpack_matrix(layout, tiles, std::span<T>(values), 1, patterns));
  std::string packed = pack_matrix(layout, std::span<const T>(values), 1, patterns).value();
  for (std::uint32_t p = 0; p < patterns; ++p) {
    T want = meaning(p);
    ASSERT_EQ(std::memcmp(&values[p], &want, sizeof want), 0) << format_name(f) << " pattern " << p << ": " << values[p] << ", not " << want;
    std::uint32_t got = 0;
    std::memcpy(&got, packed.data() + p / 32 * layout.bytes() + 16 + p % 32 * bytes, bytes);
    ASSERT_EQ(got, again(p)) << format_name(f) << " pattern " << p << ", which is " << values[p];
  }
}

std::uint32_t same(std::uint32_t p) { return p; }

TEST(EveryPattern, Float16B) {
  check_patterns<float>(
      DataFormat::float16_b, [](std::uint32_t p) { return std::bit_cast<float>(p << 16); }, same);
}

// Sign, 5 bits of exponent that are never special, a fraction. Without an exponent it is a zero.
void check_small_floats(DataFormat f, int fraction_bits) {
  auto field = [=](std::uint32_t p) { return p >> fraction_bits & 31; };
  auto sign = [=](std::uint32_t p) { return p >> (fraction_bits + 5) << (fraction_bits + 5); };
  check_patterns<float>(
      f,
      [=](std::uint32_t p) {
        double significand = 1.0 + (p & ((1u << fraction_bits) - 1)) / std::ldexp(1.0, fraction_bits);
        double size = field(p) == 0 ? 0.0 : std::ldexp(significand, static_cast<int>(field(p)) - 15);
        return static_cast<float>(sign(p) != 0 ? -size : size);
      },
      [=](std::uint32_t p) { return field(p) == 0 ? sign(p) : p; });
}
TEST(EveryPattern, Float16) { check_small_floats(DataFormat::float16, 10); }
TEST(EveryPattern, Floats8) {
  check_small_floats(DataFormat::lf8, 2);
  check_small_floats(DataFormat::fp8_e4m3, 2);
}

TEST(EveryPattern, Integers) {
  for (DataFormat f : {DataFormat::uint16, DataFormat::raw_uint16, DataFormat::uint8, DataFormat::raw_uint8}) {
    check_patterns<float>(
        f, [](std::uint32_t p) { return static_cast<float>(p); }, same);
    check_patterns<std::int32_t>(
        f, [](std::uint32_t p) { return static_cast<std::int32_t>(p); }, same);
  }
  auto int8 = [](std::uint32_t p) { return p >= 128 ? -static_cast<std::int32_t>(p - 128) : static_cast<std::int32_t>(p); };
  check_patterns<std::int32_t>(DataFormat::int8, int8, [](std::uint32_t p) { return p == 128 ? 0u : p; });
}

class Bfp : public testing::TestWithParam<DataFormat> {
 protected:
  DataFormat format() const { return GetParam(); }
  int magnitude_bits() const { return bfp_magnitude_bits(format()); }
  bool family_a() const { return exponent_family(format()) == ExponentFamily::a; }
  std::size_t group_bytes() const { return 2 * (static_cast<std::size_t>(magnitude_bits()) + 1); }

  std::vector<const BfpKernels*> kernels() const {
    std::vector<const BfpKernels*> out = {&datum::portable_bfp_kernels(format())};
    if (const BfpKernels* fast = datum::avx2_bfp_kernels(format())) out.push_back(fast);
    return out;
  }

  std::string bytes_of(const std::vector<std::uint32_t>& datums) const {
    std::string out(group_bytes(), '\0');
    std::size_t bits = static_cast<std::size_t>(magnitude_bits()) + 1;
    for (std::size_t i = 0; i < datums.size(); ++i) out[i * bits / 8] |= static_cast<char>(datums[i] << (i * bits % 8));
    return out;
  }
  std::string bytes_of(const reference::Group& g) const {
    std::vector<std::uint32_t> datums;
    for (std::size_t i = 0; i < g.magnitude.size(); ++i)
      datums.push_back((g.negative[i] ? 1u << magnitude_bits() : 0) | static_cast<std::uint32_t>(g.magnitude[i]));
    return bytes_of(datums);
  }

  void expect_packs_as(const std::vector<float>& v, BfpRounding rounding) const {
    reference::Group want = reference::group(format(), v, rounding);
    for (const BfpKernels* k : kernels()) {
      char exponent = 0;
      std::string datums(group_bytes(), '\0');
      k->pack(v.data(), v.size(), 1, rounding, &exponent, datums.data());
      ASSERT_EQ(static_cast<unsigned char>(exponent), want.exponent) << format_name(format()) << " of 16 values from " << v[0];
      ASSERT_EQ(datums, bytes_of(want)) << format_name(format()) << " of 16 values from " << v[0];
      std::vector<float> unpacked(v.size()), quantized = v;
      k->unpack(&exponent, datums.data(), 1, unpacked.data(), v.size());
      k->quantize(quantized.data(), v.size(), 1, rounding);
      ASSERT_EQ(std::memcmp(unpacked.data(), quantized.data(), sizeof(float) * v.size()), 0) << format_name(format()) << ' ' << v[0];
    }
  }
};

// Each exponent byte with each datum. What floats hold comes back as it was, but for zeros with a sign.
TEST_P(Bfp, EveryExponentAndDatum) {
  const auto all = std::uint32_t{2} << magnitude_bits();
  const int bias = family_a() ? 15 : 127;
  for (int exponent = 0; exponent < 256; ++exponent) {
    for (std::uint32_t first = 0; first < all; first += 15) {
      // A number with the top bit of its magnitude goes along, as in every group that a packer makes.
      std::vector<std::uint32_t> datums = {1u << (magnitude_bits() - 1)}, unsigned_zeros = datums;
      for (std::uint32_t i = 0; i < 15; ++i) {
        std::uint32_t d = (first + i) % all;
        datums.push_back(d);
        unsigned_zeros.push_back(d == 1u << magnitude_bits() ? 0 : d);
      }
      for (const BfpKernels* k : kernels()) {
        std::vector<float> v(16, -99.0f);
        auto byte = static_cast<char>(exponent);
        k->unpack(&byte, bytes_of(datums).data(), 1, v.data(), 16);
        for (std::size_t i = 0; i < 16; ++i) {
          double size = std::ldexp(datums[i] & ((1u << magnitude_bits()) - 1), exponent - bias - (magnitude_bits() - 1));
          auto want = static_cast<float>(datums[i] >> magnitude_bits() != 0 ? -size : size);
          ASSERT_EQ(v[i], want) << format_name(format()) << " exponent " << exponent << " datum " << datums[i];
        }
        expect_packs_as(v, BfpRounding::half_up);
        bool shown = family_a() ? exponent <= 31 : exponent >= magnitude_bits() && exponent <= 254;
        if (!shown) continue;
        char again = 0;
        std::string packed(group_bytes(), '\0');
        k->pack(v.data(), 16, 1, BfpRounding::half_up, &again, packed.data());
        ASSERT_EQ(static_cast<unsigned char>(again), exponent) << format_name(format());
        ASSERT_EQ(packed, bytes_of(unsigned_zeros)) << format_name(format()) << " exponent " << exponent << " datums from " << first;
      }
    }
  }
}

// Each float of 16 bits, among its neighbours and beside a one.
TEST_P(Bfp, EveryBrainFloatOnItsWayIn) {
  for (BfpRounding rounding : {BfpRounding::half_up, BfpRounding::truncate})
    for (std::uint32_t first = 0; first < 0x10000; first += 15) {
      std::vector<float> neighbours = {std::bit_cast<float>(first << 16)}, beside_one = {1.0f};
      for (std::uint32_t i = 0; i < 15; ++i) {
        std::uint32_t pattern = (first + i) & 0xffff;
        // 0x8080 more: half way to the next of its format, and a bit
        neighbours.push_back(std::bit_cast<float>(pattern << 16 | 0x8080));
        bool large = (pattern & 0x7fff) > 0x3f80;
        beside_one.push_back(large ? 0.0f : std::bit_cast<float>(pattern << 16));
      }
      expect_packs_as(neighbours, rounding);
      expect_packs_as(beside_one, rounding);
      if (HasFatalFailure()) return;
    }
}

INSTANTIATE_TEST_SUITE_P(Formats, Bfp,
                         testing::Values(DataFormat::bfp8, DataFormat::bfp4, DataFormat::bfp2, DataFormat::bfp8_b, DataFormat::bfp4_b,
                                         DataFormat::bfp2_b),
                         [](const auto& format) { return std::string(format_name(format.param)); });

}  // namespace
}  // namespace buda
