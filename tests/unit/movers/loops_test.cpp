// SPDX-License-Identifier: Apache-2.0
// Lists with loops say what the runs do that they are made of, and are short where these repeat.
#include <buda/movers/loops.hpp>

#include <movers/tables.h>

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace buda::movers {
namespace {

using Tuples = std::vector<WordTuple>;

Tuples tuples_of(const std::vector<WordRun>& runs) {
  Tuples out;
  for (const WordRun& run : runs)
    for (std::uint32_t i = 0; i < run.count; ++i) {
      out.push_back(run.first);
      for (std::size_t k = 0; k < run.first.size(); ++k) out.back()[k] += i * run.step[k];
    }
  return out;
}

// By recursion, where the firmware has records of loops.
class Walk {
 public:
  Walk(const Listing& listing, std::size_t width) : words_(listing.words), width_(width) {
    for (std::uint32_t i = 0; i < listing.entries; ++i) entry();
    EXPECT_EQ(at_, words_.size());
  }
  Tuples tuples;

 private:
  void entry() {
    const std::uint32_t head = words_.at(at_++);
    if ((head & mover::kLoop) == 0) return run(head >> 1);
    const std::uint32_t entries = words_.at(at_++);
    const std::size_t begin = at_;
    turns_.push_back(0);
    EXPECT_LE(turns_.size(), std::size_t{mover::kMaxDepth});
    for (; turns_.back() < head >> 1; ++turns_.back()) {
      at_ = begin;
      for (std::uint32_t i = 0; i < entries; ++i) entry();
    }
    turns_.pop_back();
  }
  WordTuple tuple() {
    WordTuple out{};
    for (std::size_t i = 0; i < width_; ++i) out[i] = words_.at(at_++);
    return out;
  }
  void run(std::uint32_t count) {
    WordTuple first = tuple(), step{};
    if (count > 1) step = tuple();
    for (std::uint32_t turn : turns_) {
      const WordTuple jump = tuple();
      for (std::size_t i = 0; i < width_; ++i) first[i] += turn * jump[i];
    }
    for (std::uint32_t i = 0; i < count; ++i) {
      tuples.push_back(first);
      for (std::size_t k = 0; k < width_; ++k) first[k] += step[k];
    }
  }

  const std::vector<std::uint32_t>& words_;
  std::size_t width_, at_ = 0;
  std::vector<std::uint32_t> turns_;
};

TEST(Loops, AreFoundInLoops) {
  // Of 5 matrices 4 rows of 3 runs: 60 runs.
  std::vector<WordRun> runs;
  for (std::uint32_t t = 0; t < 5; ++t)
    for (std::uint32_t r = 0; r < 4; ++r)
      for (std::uint32_t c = 0; c < 3; ++c) runs.push_back({7, {2, c, 1000 * t + 10 * r + c * c}, {0, 1, 2}});
  const Listing listing = listing_of(runs, 3);
  EXPECT_EQ(listing.entries, 1u);
  EXPECT_EQ(listing.depth, 2u);
  EXPECT_LT(listing.words.size(), 50u);
  EXPECT_EQ(Walk(listing, 3).tuples, tuples_of(runs));
}

TEST(Loops, AreNotMadeOfWhatDoesNotRepeat) {
  std::vector<WordRun> runs;
  for (std::uint32_t i = 0; i < 40; ++i) runs.push_back({1, {1, i * i * i}, {}});
  const Listing listing = listing_of(runs, 2);
  EXPECT_EQ(listing.entries, 40u);
  EXPECT_EQ(listing.words.size(), 120u);
  EXPECT_TRUE(listing_of({}, 3).words.empty());
}

// Patterns of patterns, with faults in them.
TEST(Loops, SayTheSameAsTheirRuns) {
  for (std::uint32_t seed = 0; seed < 400; ++seed) {
    std::mt19937 random(seed);
    const auto draw = [&](std::uint32_t most) { return static_cast<std::uint32_t>(random() % (most + 1)); };
    const std::size_t width = 2 + draw(3);
    const auto tuple = [&](std::uint32_t most) {
      WordTuple out{};
      for (std::size_t i = 0; i < width; ++i) out[i] = draw(most) - most / 2;
      return out;
    };
    std::vector<WordRun> runs;
    for (std::uint32_t part = draw(3); part < 4; ++part) {
      std::vector<WordRun> body;
      for (std::uint32_t n = draw(4); n < 5; ++n) body.push_back({1 + draw(2), tuple(9), tuple(2)});
      const WordTuple inner = tuple(3), outer = tuple(1000);
      for (std::uint32_t o = 0, outers = 1 + draw(4), inners = 1 + draw(5); o < outers; ++o)
        for (std::uint32_t i = 0; i < inners; ++i)
          for (const WordRun& run : body) {
            runs.push_back(run);
            for (std::size_t k = 0; k < width; ++k) runs.back().first[k] += i * inner[k] + o * outer[k];
            if (draw(60) == 0) runs.back().first[draw(1)] += 1;
          }
    }
    const Listing listing = listing_of(runs, width);
    ASSERT_EQ(Walk(listing, width).tuples, tuples_of(runs)) << "seed " << seed;
    std::size_t flat = 0;
    for (const WordRun& run : runs) flat += 1 + width * (run.count > 1 ? 2 : 1);
    ASSERT_LE(listing.words.size(), flat) << "seed " << seed;
  }
}

}  // namespace
}  // namespace buda::movers
