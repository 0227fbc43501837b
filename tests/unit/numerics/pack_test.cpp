// SPDX-License-Identifier: Apache-2.0
// Packers and unpackers, against results worked out by hand from their description (pack.hpp, unpack.hpp).
#include "words.hpp"

#include <buda/base/rng.hpp>
#include <buda/numerics/matrix_unit.hpp>
#include <buda/numerics/pack.hpp>
#include <buda/numerics/unpack.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

namespace buda::numerics {
namespace {

// What one number becomes in L1, with fifteen zeros beside it.
float packed(const Packing& packing, std::uint32_t number) {
  std::array<std::uint32_t, 16> words{};
  words[3] = number;
  std::array<float, 16> values{};
  pack(packing, words, values);
  return values[3];
}
float packed(Dest dest, DataFormat out, std::uint32_t number) { return packed(packing_for(dest, out), number); }

TEST(Pack, RoundsHalvesAwayFromZeroOnTheWayTo16Bits) {
  EXPECT_EQ(packed(Dest::fp32, DataFormat::float16_b, word(257)), 258.0f);
  EXPECT_EQ(packed(Dest::fp32, DataFormat::float16_b, word(-257)), -258.0f);
  EXPECT_EQ(packed(Dest::fp32, DataFormat::float16_b, word(256.984375)), 256.0f);
  EXPECT_EQ(packed(Dest::fp32, DataFormat::float32, word(257)), 257.0f);
}

TEST(Pack, HasNoNaNDenormalsOrNegativeZeros) {
  EXPECT_EQ(packed(Dest::fp32, DataFormat::float16_b, 0x7fc00000u), kInfinity);
  EXPECT_EQ(packed(Dest::bf16, DataFormat::float16_b, 0xffc00000u), -kInfinity);
  EXPECT_EQ(word(packed(Dest::bf16, DataFormat::float16_b, 0x80400000u)), 0u);
  EXPECT_EQ(word(packed(Dest::fp32, DataFormat::float16_b, kSignBit)), 0u);
  EXPECT_EQ(word(packed(Dest::fp32, DataFormat::float32, kSignBit)), kSignBit);  // nothing is converted
}

TEST(Pack, CutsFloat32ToFloat16AndSaturates) {
  EXPECT_EQ(packed(Dest::fp32, DataFormat::float16, word(1 + 0x1.8p-10)), 1 + 0x1p-10f);
  EXPECT_EQ(packed(Dest::fp32, DataFormat::float16, word(1e6)), 131008.0f);
  EXPECT_EQ(packed(Dest::fp32, DataFormat::float16, word(-0x1p-16)), 0.0f);
  EXPECT_EQ(packed(Dest::fp16, DataFormat::float16_b, word_of_fp16(0x3fff)), 1.9921875f);  // cut, too
}

TEST(Pack, BfpGroupsShareTheLargestExponent) {
  std::array<std::uint32_t, 16> words{}, datums{};
  words[0] = word(1.5);
  words[1] = word(-1.9921875);  // 255 of 256: six bits first make it 2
  words[2] = word(0x1p-7);      // a half of the last bit
  words[3] = word(-0x1p-8);     // less
  const std::uint8_t exponent = pack_group(packing_for(Dest::bf16, DataFormat::bfp8_b), words, datums);
  EXPECT_EQ(exponent, 128);
  EXPECT_EQ(datums[0], 48u);
  EXPECT_EQ(datums[1], 128u | 64);
  EXPECT_EQ(datums[2], 0u);
  EXPECT_EQ(datums[3], 0u);
  // From a Float32 that is not rounded before, 255 of 256 saturates.
  Packing precise = packing_for(Dest::fp32, DataFormat::bfp8_b);
  precise.intermediate = Intermediate::wide;
  EXPECT_EQ(pack_group(precise, words, datums), 127);
  EXPECT_EQ(datums[0], 96u);
  EXPECT_EQ(datums[1], 128u | 127);
  EXPECT_EQ(datums[2], 1u);
}

TEST(Pack, NarrowBfpFormatsCutTheSevenBits) {
  EXPECT_EQ(packed(Dest::bf16, DataFormat::bfp4_b, word(1.9375)), 1.75f);
  EXPECT_EQ(packed(Dest::bf16, DataFormat::bfp2_b, word(1.9375)), 1.0f);
  EXPECT_EQ(packed(Dest::fp16, DataFormat::bfp8, word_of_fp16(0x3e00)), 1.5f);
}

TEST(Pack, ReluStandsBetweenTheConversions) {
  Packing p = packing_for(Dest::bf16, DataFormat::float16_b);
  p.relu = PackerRelu::zero;
  EXPECT_EQ(packed(p, word(-3)), 0.0f);
  EXPECT_EQ(packed(p, 0x7fc00000u), kInfinity);
  p.relu = PackerRelu::min_threshold;
  p.threshold = 1.5f;
  EXPECT_EQ(packed(p, word(1.5)), 0.0f);
  EXPECT_EQ(packed(p, word(1.5078125)), 1.5078125f);
  p.relu = PackerRelu::max_threshold;
  EXPECT_EQ(packed(p, word(7)), 1.5f);
  EXPECT_EQ(packed(p, word(-7)), 0.0f);
}

TEST(L1, AccumulatesWithItsOwnRounding) {
  const auto sum = [](DataFormat f, std::uint32_t a, std::uint32_t b) { return accumulate_in_l1(f, a, b); };
  EXPECT_EQ(sum(DataFormat::float16_b, 0x4380, 0x3f80), 0x4380u);  // 256 + 1: to even
  EXPECT_EQ(sum(DataFormat::float16_b, 0x4381, 0x3f80), 0x4382u);  // 258 + 1
  EXPECT_EQ(sum(DataFormat::float16_b, 0x7f80, 0xff80), 0x7fc0u);
  EXPECT_EQ(sum(DataFormat::float32, word(1), 0x00400000u), word(1));
  EXPECT_EQ(sum(DataFormat::float16, 0x3c00, 0x3c00), 0x4000u);
  EXPECT_EQ(sum(DataFormat::float16, 0x7bff, 0xfbff), 0x7fffu);  // exact cancellation of large numbers overflows
  EXPECT_EQ(sum(DataFormat::float16, 0x3c00, 0xbc00), 0u);
  EXPECT_TRUE(can_accumulate_in_l1(DataFormat::float16_b));
  EXPECT_FALSE(can_accumulate_in_l1(DataFormat::bfp8_b));
}

TEST(Unpack, CutsFloat32) {
  EXPECT_EQ(unpack_datum(DataFormat::float32, Source::tf32, 0x3fffffffu, 0), 0x3fffe000u);
  EXPECT_EQ(unpack_datum(DataFormat::float32, Source::bf16, 0x3fffffffu, 0), 0x3fff0000u);
  EXPECT_EQ(unpack_datum(DataFormat::float32, Source::bf16, 0x807fffffu, 0), kSignBit);
  EXPECT_EQ(unpack_datum(DataFormat::float32, Source::fp16, word(-1e9), 0), kSignBit | kLargestFp16);
  EXPECT_EQ(unpack_datum(DataFormat::float32, Source::fp16, word(1.5), 0), word_of_fp16(0x3e00));
}

TEST(Unpack, NormalisesBfpAndWrapsExponents) {
  EXPECT_EQ(unpack_datum(DataFormat::bfp8_b, Source::bf16, 96, 127), word(1.5));
  EXPECT_EQ(unpack_datum(DataFormat::bfp8_b, Source::bf16, 128 | 1, 127), word(-0x1p-6));
  EXPECT_EQ(unpack_datum(DataFormat::bfp8_b, Source::bf16, 1, 3), 253u << 23);
  EXPECT_EQ(unpack_datum(DataFormat::bfp8_b, Source::bf16, 128, 9), kSignBit | kLargestWide);
  EXPECT_EQ(unpack_datum(DataFormat::bfp4_b, Source::bf16, 7, 127), word(1.75));
  EXPECT_EQ(unpack_datum(DataFormat::bfp2_b, Source::bf16, 3, 127), word(-1));
}

// Every datum with every exponent: by its bits, and by the value that it means.
TEST(Unpack, BitsAndValuesAgree) {
  for (DataFormat format :
       {DataFormat::bfp8_b, DataFormat::bfp4_b, DataFormat::bfp2_b, DataFormat::bfp8, DataFormat::bfp4, DataFormat::bfp2}) {
    const bool narrow = exponent_family(format) == ExponentFamily::a;
    const int bits = bfp_magnitude_bits(format);
    for (int exponent = narrow ? 8 : 0; exponent < (narrow ? 32 : 254); ++exponent)
      for (std::uint32_t datum = 0; datum < 2u << bits; ++datum) {
        if (datum == 1u << bits) continue;  // minus infinity: a value cannot tell of which group
        const float value = value_of_datum(format, datum, static_cast<std::uint8_t>(exponent));
        std::uint32_t by_value = 0;
        unpack(format, source_of(format), {&value, 1}, {&by_value, 1});
        ASSERT_EQ(by_value, unpack_datum(format, source_of(format), datum, static_cast<std::uint8_t>(exponent)))
            << format_name(format) << ' ' << exponent << ' ' << datum;
      }
  }
}

// In bulk, from any place on: as one by one.
TEST(Unpack, BulkMeetsSingleDatums) {
  Rng rng(5);
  std::array<std::uint8_t, 4 * 96> bytes;
  std::array<std::uint8_t, 6> exponents;
  for (DataFormat format : {DataFormat::bfp8_b, DataFormat::bfp4_b, DataFormat::bfp2_b, DataFormat::bfp8, DataFormat::bfp4,
                            DataFormat::bfp2, DataFormat::float16, DataFormat::float16_b, DataFormat::lf8, DataFormat::float32})
    for (int round = 0; round < 500; ++round) {
      for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(rng.next());
      for (std::uint8_t& exponent : exponents) exponent = static_cast<std::uint8_t>(round % 3 == 0 ? rng.next() % 9 : rng.next());
      const auto bits = static_cast<std::size_t>(bits_per_datum(format)), first = static_cast<std::size_t>(rng.next() % 32);
      std::array<std::uint32_t, 64> words{};
      const Source as = round % 2 == 0 || format != DataFormat::float32 ? source_of(format) : Source::bf16;
      unpack_datums({format, as, bytes.data(), exponents.data()}, first, words);
      for (std::size_t i = 0; i < words.size(); ++i) {
        std::uint32_t datum = 0;
        std::memcpy(&datum, bytes.data() + (first + i) * bits / 8, std::max<std::size_t>(bits / 8, 1));
        if (bits < 8) datum = datum >> ((first + i) * bits % 8) & ((1u << bits) - 1);
        ASSERT_EQ(words[i], unpack_datum(format, as, datum, exponents[(first + i) / 16])) << format_name(format) << ' ' << i;
      }
    }
}

TEST(Copy, KeepsFloat32In32BitsAndFlushesDenormalsElsewhere) {
  const std::array<float, 4> numbers = {std::bit_cast<float>(0x3fffffffu), std::bit_cast<float>(0x00400000u), -0.0f, kInfinity};
  std::array<std::uint32_t, 4> words{};
  copy_to_dest(DataFormat::float32, Dest::fp32, numbers, words);
  EXPECT_EQ(words, (std::array<std::uint32_t, 4>{0x3fffffffu, 0x00400000u, kSignBit, kLargestWide}));
  copy_to_dest(DataFormat::float32, Dest::bf16, numbers, words);
  EXPECT_EQ(words, (std::array<std::uint32_t, 4>{0x3fff0000u, 0, 0, kLargestWide}));
  const std::array<float, 1> half = {-1.5f};
  std::array<std::uint32_t, 1> one{};
  copy_to_dest(DataFormat::float16, Dest::fp16, half, one);
  EXPECT_EQ(one[0], word_of_fp16(0xbe00));
  EXPECT_EQ(value_of_dest(Dest::fp16, one[0]), -1.5f);
  EXPECT_EQ(dest_of_value(Dest::fp16, -1.5f), one[0]);
  copy_to_dest(DataFormat::float16, Dest::fp32, half, one);
  EXPECT_EQ(one[0], word(-1.5));
}

}  // namespace
}  // namespace buda::numerics
