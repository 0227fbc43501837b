// SPDX-License-Identifier: Apache-2.0
// All implementations have the same bits, and those that were measured.
//
// measured.hpp has digests of what ttsim, Tenstorrent's functional simulator, makes of the same operands: its own routines were called with
// them, number by number, outside this repository (docs/internals/numerics.md).
#include "cases.hpp"
#include "measured.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace buda::numerics::cases {
namespace {

TEST(Bits, OfAllImplementationsAreThoseMeasured) {
  std::map<std::string, std::uint64_t> measured;
  for (const Measured& m : kMeasured) measured[m.name] = m.digest;
  for (const Case& c : all_cases())
    for (const Implementation& how : implementations())
      EXPECT_EQ(digest(c, how, kSeed, kResultsOfACase), measured.at(c.name())) << c.name() << " by " << how.name;
}

TEST(Bits, OfPackersAreThoseMeasured) {
  std::map<std::string, std::uint64_t> measured;
  for (const Measured& m : kMeasured) measured[m.name] = m.digest;
  for (const PackCase& c : pack_cases()) EXPECT_EQ(pack_digest(c, &pack_group, kSeed, kDatumsOfACase), measured.at(c.name())) << c.name();
  for (DataFormat format : {DataFormat::float32, DataFormat::float16_b, DataFormat::float16})
    EXPECT_EQ(sum_digest(format, &accumulate_in_l1, kSeed, kDatumsOfACase), measured.at("l1/" + std::string(format_name(format))))
        << format_name(format);
}

TEST(Bits, OfPackersThatTakeManyNumbersAtOnceAreTheSame) {
  std::map<std::string, std::uint64_t> measured;
  for (const Measured& m : kMeasured) measured[m.name] = m.digest;
  std::size_t cases = 0;
  for (const PackCase& c : pack_cases()) {
    if (!packs_as_bf16(c.packing)) continue;
    ++cases;
    const auto pack = [](const Packing& p, std::span<const std::uint32_t, 16> words, std::span<std::uint32_t, 16> datums) {
      std::array<std::uint8_t, 32> bytes{};
      pack_as_bf16(p.dest, words, bytes.data());
      for (std::size_t i = 0; i < 16; ++i) datums[i] = bytes[2 * i] | std::uint32_t{bytes[2 * i + 1]} << 8;
      return std::uint8_t{0};
    };
    EXPECT_EQ(pack_digest(c, pack, kSeed, kDatumsOfACase), measured.at(c.name())) << c.name();
  }
  EXPECT_EQ(cases, 2u);
}

// What a digest is for: another seed, and one wrong bit, give another one.
TEST(Digests, TellDifferences) {
  const Case c{"mvmul", {Source::bf16, Dest::bf16, 0}};
  Implementation how = scalar_definition();
  const std::uint64_t right = digest(c, how, kSeed, 4096);
  EXPECT_NE(digest(c, how, kSeed + 1, 4096), right);
  how.mvmul = [](Multiplication m, const Words& a, const Words& b, Words& dest) {
    scalar_definition().mvmul(m, a, b, dest);
    dest[77] ^= 0x10000u;
  };
  EXPECT_NE(digest(c, how, kSeed, 4096), right);
}

// The drawn operands reach what is hard: zeros, the largest numbers, and results of either sign.
TEST(Digests, CoverTheEnds) {
  Implementation how = scalar_definition();
  std::set<std::uint32_t> exponents;
  std::size_t negative = 0, zeros = 0, all = 0;
  how.elwmul = [&](Multiplication m, const Words& a, const Words& b, Words& dest) {
    scalar_definition().elwmul(m, a, b, dest);
    for (std::uint32_t word : dest) {
      exponents.insert(word >> 23 & 255);
      negative += word >> 31;
      zeros += word == 0 ? 1 : 0;
      ++all;
    }
  };
  digest({"elwmul", {Source::bf16, Dest::bf16, 0}}, how, kSeed, kResultsOfACase);
  EXPECT_GT(exponents.size(), 200u);
  EXPECT_TRUE(exponents.contains(255));
  EXPECT_GT(negative, all / 5);
  EXPECT_GT(zeros, all / 100);
}

}  // namespace
}  // namespace buda::numerics::cases
