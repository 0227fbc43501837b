// SPDX-License-Identifier: Apache-2.0
// Lower bounds against all cuts of small schedules, and what reports tell of them.
#include "unit/balance/fixture.hpp"

#include <buda/balance/bounds/bounds.hpp>
#include <buda/balance/bounds/epoch_ends.hpp>
#include <buda/balance/emit/report_bounds.hpp>

#include <cmath>
#include <functional>
#include <limits>
#include <map>

namespace buda::balance {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr double kNone = std::numeric_limits<double>::infinity();

std::vector<BoundedOp> random_ops(Rng& rng, std::size_t count) {
  std::vector<BoundedOp> ops(count);
  for (std::size_t i = 0; i < count; ++i) {
    BoundedOp& op = ops[i];
    std::vector<CoreCost> choices;
    for (std::uint64_t c = 1 + rng.below(4); c > 0; --c)
      choices.push_back({static_cast<std::int64_t>(1 + rng.below(5)), static_cast<double>(10 * (1 + rng.below(30)))});
    op.choices = best_choices(std::move(choices));
    op.begins_epoch = rng.below(8) == 0;
    op.inputs = static_cast<std::int64_t>(1 + rng.below(5));
    op.result_bytes = static_cast<double>(rng.below(300));
    op.is_written = rng.below(5) == 0;
    op.last_user = i;
    for (std::uint64_t reads = rng.below(3); i > 0 && reads > 0; --reads) {
      const std::size_t from = rng.below(i);
      op.operands.push_back({from, ops[from].result_bytes});
      ops[from].last_user = i;
    }
    if (rng.below(2) == 0) op.sources.push_back({rng.below(3), 200});
  }
  return ops;
}

double fastest(const BoundedOp& op) { return op.choices.back().cycles; }

// The way of an input from op `at` on, by recursion.
double way_from(const std::vector<BoundedOp>& ops, std::size_t at, std::size_t end) {
  double behind = 0;
  for (std::size_t reader = at + 1; reader < end; ++reader)
    for (const auto& read : ops[reader].operands)
      if (read.from == at) behind = std::max(behind, way_from(ops, reader, end));
  return fastest(ops[at]) + behind;
}

// Cycles of one epoch with one choice for each op, the least over all combinations; by the words of the header.
double least_of_epoch(const std::vector<BoundedOp>& ops, std::size_t begin, std::size_t end, const BoundedChip& chip) {
  double bytes = 0, way = 0, interval = kNone;
  std::int64_t inputs = 1;
  std::map<std::size_t, double> sources, operands;
  for (std::size_t i = begin; i < end; ++i) {
    if (i > begin && ops[i].begins_epoch) return kNone;
    for (const auto& read : ops[i].sources) sources[read.from] = read.bytes;
    for (const auto& read : ops[i].operands)
      if (read.from < begin) operands[read.from] = read.bytes;
    if (ops[i].is_written || ops[i].last_user >= end) bytes += ops[i].result_bytes;
    way = std::max(way, way_from(ops, i, end));
    inputs = std::max(inputs, ops[i].inputs);
  }
  for (const auto& [from, read] : sources) bytes += read;
  for (const auto& [from, read] : operands) bytes += read;
  std::function<void(std::size_t, std::int64_t, double)> choose = [&](std::size_t i, std::int64_t cores, double slowest) {
    if (cores > chip.cores) return;
    if (i == end) {
      interval = std::min(interval, slowest);
      return;
    }
    for (const CoreCost& c : ops[i].choices) choose(i + 1, cores + c.cores, std::max(slowest, c.cycles));
  };
  choose(begin, 0, 0);
  interval = std::max(interval, std::round(bytes / chip.dram_bytes_per_cycle));
  return std::max(chip.ops_overlap ? 0 : way, interval) + static_cast<double>(inputs - 1) * interval;
}

TEST(Bounds, TheScheduleBoundIsTheLeastOverAllCuts) {
  Rng rng(7);
  for (int round = 0; round < 300; ++round) {
    const std::size_t count = 1 + rng.below(7);
    const auto ops = random_ops(rng, count);
    BoundedChip chip{static_cast<std::int64_t>(5 + rng.below(8)), 2};
    chip.ops_overlap = round % 2 == 1;
    double least = kNone;
    for (std::size_t cuts = 0; cuts < (std::size_t{1} << (count - 1)); ++cuts) {
      double sum = 0;
      for (std::size_t begin = 0, end = 1; end <= count; ++end) {
        if (end < count && (cuts >> (end - 1) & 1) == 0) continue;
        sum += least_of_epoch(ops, begin, end, chip);
        begin = end;
      }
      least = std::min(least, sum);
    }
    const ScheduleBound bound(ops, chip);
    ASSERT_DOUBLE_EQ(bound.cycles(), least) << "round " << round;
    // The cuts that it names cost what it says.
    const auto cuts = bound.cuts();
    double sum = 0;
    for (std::size_t e = 0; e + 1 < cuts.size(); ++e) {
      ASSERT_DOUBLE_EQ(bound.of_epoch(cuts[e], cuts[e + 1]), least_of_epoch(ops, cuts[e], cuts[e + 1], chip)) << "round " << round;
      sum += bound.of_epoch(cuts[e], cuts[e + 1]);
    }
    EXPECT_DOUBLE_EQ(sum, least) << "round " << round;
    EXPECT_LE(universal_bound(ops, chip).cycles(), least * (1 + 1e-12)) << "round " << round;
  }
}

TEST(Bounds, TheUniversalBoundFollowsFromWhatBindsMost) {
  BoundedOp op;
  op.choices = {{1, 1000}, {4, 300}};
  op.inputs = 10;
  const std::vector<BoundedOp> few{op}, many(40, op);
  EXPECT_EQ(universal_bound(few, {8, 1}).cycles(), 3000);
  EXPECT_EQ(universal_bound(few, {8, 1}).limiter(), "slowest op");
  EXPECT_EQ(universal_bound(many, {8, 1}).cycles(), 10 * 40 * 1000 / 8);
  EXPECT_EQ(universal_bound(many, {8, 1}).limiter(), "cores");
  std::vector<BoundedOp> reads = few;
  reads.front().sources = {{0, 5000}};
  EXPECT_EQ(universal_bound(reads, {8, 1}).limiter(), "DRAM");
  // Ops that read the same read it once.
  reads.push_back(reads.front());
  EXPECT_NEAR(universal_bound(reads, {8, 1}).cycles(), 50000, 10);
  // An op of an epoch that runs once counts once.
  std::vector<BoundedOp> mixed = many;
  for (std::size_t i = 0; i < mixed.size() / 2; ++i) mixed[i].inputs = 1;
  EXPECT_EQ(universal_bound(mixed, {8, 1}).cycles(), (10 + 1) * 20 * 1000 / 8);
}

TEST(Bounds, AreReportedWithTheGap) {
  auto balanced = balance_with(perceptron(64, {128, 256, 64}), "n150");
  ASSERT_TRUE(balanced.ok());
  const PlacementReport& r = balanced->report;
  ASSERT_TRUE(r.totals.schedule_bound && r.totals.universal_bound);
  const ReportBound &schedule = *r.totals.schedule_bound, &any = *r.totals.universal_bound;
  EXPECT_GT(any.cycles, 0);
  EXPECT_LE(any.cycles, schedule.cycles);
  EXPECT_LE(schedule.cycles, r.totals.cycles);
  EXPECT_NEAR(schedule.gap, 100.0 * static_cast<double>(r.totals.cycles - schedule.cycles) / static_cast<double>(schedule.cycles), 0.5);
  ASSERT_EQ(r.epochs.size(), 1u);
  EXPECT_LE(r.epochs[0].bound, r.epochs[0].cycles);
  EXPECT_EQ(schedule.cycles, std::max(r.epochs[0].bound, any.cycles));
  EXPECT_EQ(r.epochs[0].ended_by, "the schedule ends");
  EXPECT_EQ(r.epochs[0].limiter, r.totals.limiter);
  EXPECT_GE(r.epochs[0].interval, r.epochs[0].ops[0].cycles.kernel);
  for (const ReportOp& op : r.epochs[0].ops) EXPECT_EQ(op.limiter, limiter_name(op.cycles));
  ASSERT_FALSE(r.epochs[0].links.empty());
  EXPECT_LE(r.epochs[0].links.size(), kListedLinks);
  EXPECT_EQ(r.epochs[0].links[0].link, r.epochs[0].paths[1].busiest);
  EXPECT_EQ(r.epochs[0].links[0].bytes, r.epochs[0].paths[1].bytes);
}

TEST(Bounds, GapsAreInPercentOfTheBound) {
  EXPECT_EQ(gap_above(150, 100), 50);
  EXPECT_EQ(gap_above(100, 100), 0);
  EXPECT_EQ(gap_above(100, 0), 0);
}

TEST(EpochEnds, TellWhatKeepsTheNextOpOut) {
  OneOpPerEpoch policy;
  auto by_policy = balance_with(perceptron(64, {128, 256, 64}), "n150", {}, policy);
  ASSERT_TRUE(by_policy.ok());
  ASSERT_EQ(by_policy->report.epochs.size(), 2u);
  EXPECT_THAT(by_policy->report.epochs[0].ended_by, HasSubstr("' would fit; the policy began an epoch with it"));
  EXPECT_EQ(by_policy->report.epochs[1].ended_by, "the schedule ends");

  BalanceOptions options;
  options.overrides = {{"fc2.epoch-break", "true"}};
  auto requested = balance_with(perceptron(64, {128, 256, 64}), "n150", options);
  ASSERT_TRUE(requested.ok());
  EXPECT_EQ(requested->report.epochs[0].ended_by, "op 'fc2' was requested to begin an epoch");

  options.overrides = {{"fc1.grid", "[9,8]"}};
  auto full = balance_with(perceptron(32 * 9, {32 * 72, 32 * 72, 32 * 72}), "n150", options);
  ASSERT_TRUE(full.ok());
  ASSERT_GT(full->report.epochs.size(), 1u);
  EXPECT_THAT(full->report.epochs[0].ended_by, HasSubstr("' has no room: its smallest grid takes "));
  EXPECT_THAT(full->report.epochs[0].ended_by, HasSubstr("and 0 cores are idle"));
}

// Places what it can of later ops first.
class OutOfOrder final : public Policy {
 public:
  Result<Choice> choose(Placement placement, const Estimator&) override {
    const auto smallest = [](const OpModel& a, const OpModel& b) { return a.cores() < b.cores(); };
    for (std::size_t i : {2u, 0u, 1u, 3u}) {
      BUDA_TRY(placement.place_best(placement.schedule()[i], smallest));
      placement.next_epoch();
    }
    return placement.choice();
  }
};

TEST(Bounds, OfTheScheduleAreNotToldOfPlansThatDoNotFollowIt) {
  DeviceGraph g;
  auto x = g.input("x", {1, 1, 64, 64}), y = g.input("y", {1, 1, 64, 64});
  auto a = g.op("a", "exp", {x}, {1, 1, 64, 64}), b = g.op("b", "exp", {a}, {1, 1, 64, 64});
  auto c = g.op("c", "exp", {y}, {1, 1, 64, 64});
  g.output("out", g.op("d", "add", {b, c}, {1, 1, 64, 64}));
  OutOfOrder policy;
  BalanceOptions options;
  options.schedule = SchedulePolicy::topological;
  auto balanced = balance_with(std::move(g.graph), "n150", options, policy);
  ASSERT_TRUE(balanced.ok()) << text_of(balanced.failure());
  ASSERT_FALSE(follows_schedule(balanced->choice));
  EXPECT_FALSE(balanced->report.totals.schedule_bound);
  ASSERT_TRUE(balanced->report.totals.universal_bound);
  EXPECT_GT(balanced->report.totals.universal_bound->gap, 0);
  for (const ReportEpoch& epoch : balanced->report.epochs) {
    EXPECT_THAT(epoch.ended_by, IsEmpty());
    EXPECT_EQ(epoch.bound, 0);
  }
}

}  // namespace
}  // namespace buda::balance
