// SPDX-License-Identifier: Apache-2.0
// Spelling, checked arithmetic, the random generator, parallel loops, hashing.
#include <buda/base/boxed.hpp>
#include <buda/base/checked.hpp>
#include <buda/base/grid.hpp>
#include <buda/base/hash.hpp>
#include <buda/base/keyed_hash.hpp>
#include <buda/base/parallel.hpp>
#include <buda/base/rng.hpp>
#include <buda/base/spelling.hpp>
#include <buda/base/strong_id.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

namespace buda {
namespace {

TEST(Boxed, CopiesHaveValuesOfTheirOwn) {
  Boxed<std::string> none, a = "a";
  EXPECT_FALSE(none.has_value());
  Boxed<std::string> b = a;
  *b += "b";
  EXPECT_EQ(*a, "a");
  EXPECT_EQ(*b, "ab");
  a = std::move(b);
  EXPECT_EQ(a->size(), 2u);
  a = none;
  EXPECT_FALSE(a);
  a = std::string("again");
  a = std::nullopt;
  EXPECT_FALSE(a);
}

TEST(Spelling, FindsTypingErrorsAndNothingElse) {
  std::vector<std::string> words = {"device", "threads", "output", "verify"};
  EXPECT_EQ(nearest_word("devcie", words), "device");
  EXPECT_EQ(nearest_word("DEVICE", words), "device");
  EXPECT_EQ(nearest_word("outptu", words), "output");
  EXPECT_EQ(nearest_word("policy", words), std::nullopt);
  EXPECT_EQ(nearest_word("", words), std::nullopt);
  EXPECT_EQ(nearest_word(std::string(100000, 'd'), words), std::nullopt);
}

TEST(Checked, OverflowIsAValue) {
  EXPECT_EQ(checked_mul<std::int64_t>(1LL << 40, 1LL << 40), std::nullopt);
  EXPECT_EQ(checked_add<std::uint32_t>(~0u, 1u), std::nullopt);
  EXPECT_EQ(checked_product<std::int64_t>(std::vector<std::int64_t>{3, 4, 5}), 60);
  EXPECT_EQ(checked_product<std::int64_t>(std::vector<std::int64_t>{}), 1);
  EXPECT_EQ(checked_product<std::int64_t>(std::vector<std::int64_t>{1LL << 62, 4}), std::nullopt);
  EXPECT_EQ(align_up(33, 32), 64);
  EXPECT_EQ(ceil_div(32, 32), 1);
}

TEST(Rng, SequenceIsPartOfTheContract) {
  // SplitMix64 with seed 1234567, as its authors publish it.
  Rng rng(1234567);
  for (std::uint64_t expected : {6457827717110365317ULL, 3203168211198807973ULL, 9817491932198370423ULL, 4593380528125082431ULL})
    EXPECT_EQ(rng.next(), expected);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_LT(rng.below(7), 7u);
    double u = rng.uniform(-2, 3);
    EXPECT_TRUE(u >= -2 && u < 3);
  }
}

TEST(Parallel, EveryIndexOnceWhateverTheThreads) {
  for (unsigned threads : {0u, 1u, 3u, 16u}) {
    std::vector<int> seen(1000, 0);
    parallel_for(threads, seen.size(), [&](std::size_t i) { ++seen[i]; });
    EXPECT_EQ(std::accumulate(seen.begin(), seen.end(), 0), 1000);
    EXPECT_EQ(*std::max_element(seen.begin(), seen.end()), 1);
  }
}

TEST(Parallel, TheFirstFailureByIndexIsTheOneReported) {
  for (int round = 0; round < 20; ++round) {
    try {
      parallel_for(4, 100, [](std::size_t i) {
        if (i % 10 == 3) throw std::runtime_error(std::to_string(i));
      });
      FAIL();
    } catch (const std::runtime_error& e) {
      EXPECT_STREQ(e.what(), "3");
    }
  }
}

TEST(Hash, ValueIsFixed) {
  EXPECT_EQ(stable_hash(""), 0xcbf29ce484222325ULL);
  EXPECT_EQ(stable_hash("foobar"), 0x85944171f73967e8ULL);  // from the FNV reference
}

// From the appendix of the paper: the key 00 01 … 0f, the text 00 01 … 0e.
TEST(SipHash, GivesThePublishedValue) {
  std::string text;
  for (char c = 0; c < 15; ++c) text.push_back(c);
  EXPECT_EQ(sip_hash(text, 0x0706050403020100ULL, 0x0f0e0d0c0b0a0908ULL), 0xa129ca6149be45e5ULL);
  EXPECT_NE(sip_hash(text, 1, 2), sip_hash(text, 1, 3));
}

TEST(Grid, RectanglesOverlapOnlyWhereTheyShareACore) {
  GridRect a{{0, 0}, {2, 3}};
  EXPECT_TRUE(a.overlaps({{1, 2}, {1, 1}}));
  EXPECT_FALSE(a.overlaps({{2, 0}, {1, 1}}));
  EXPECT_FALSE(a.overlaps({{0, 3}, {4, 4}}));
}

TEST(StrongId, DefaultIsInvalid) {
  using Id = StrongId<struct SomeTag>;
  EXPECT_FALSE(Id{}.valid());
  EXPECT_LT(Id{1}, Id{2});
}

}  // namespace
}  // namespace buda
