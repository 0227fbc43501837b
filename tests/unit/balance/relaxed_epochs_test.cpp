// SPDX-License-Identifier: Apache-2.0
// Cuts of a schedule, against all cuts that there are.
#include <buda/balance/bounds/relaxed_epochs.hpp>

#include <buda/base/rng.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

namespace buda::balance {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

// The smallest choice of an op that takes no longer than that; null where there is none.
const CoreCost* smallest(const RelaxedOp& op, double cycles) {
  const CoreCost* best = nullptr;
  for (const CoreCost& c : op.choices)
    if (c.cycles <= cycles && (best == nullptr || c.cores < best->cores)) best = &c;
  return best;
}

struct TriedPace {
  double interval = kNever, latency = 0;
};

// The smallest interval at which the ops [begin, end) fit the chip, by trying the cycles of every choice.
TriedPace best_pace(const std::vector<RelaxedOp>& ops, std::size_t begin, std::size_t end, std::int64_t cores) {
  TriedPace best;
  for (std::size_t i = begin; i < end; ++i)
    for (const CoreCost& candidate : ops[i].choices) {
      if (candidate.cycles >= best.interval) continue;
      std::int64_t needed = 0;
      TriedPace pace{candidate.cycles, 0};
      for (std::size_t k = begin; k < end; ++k) {
        const CoreCost* c = smallest(ops[k], candidate.cycles);
        needed += c == nullptr ? cores + 1 : c->cores;
        pace.latency += c == nullptr ? 0 : c->cycles;
      }
      if (needed <= cores) best = pace;
    }
  // An op that fits no chip stands alone, with the fewest cores.
  const double alone = ops[begin].choices.front().cycles;
  return best.interval == kNever && end - begin == 1 ? TriedPace{alone, alone} : best;
}

double dram_bytes(const std::vector<RelaxedOp>& ops, std::size_t begin, std::size_t end) {
  double bytes = 0;
  for (std::size_t i = begin; i < end; ++i) {
    bytes += ops[i].dram_bytes + (ops[i].last_user >= end ? ops[i].result_bytes : 0);
    for (const auto& o : ops[i].operands) bytes += o.other < begin ? o.bytes : 0;
  }
  return bytes;
}

double written_bytes(const std::vector<RelaxedOp>& ops, std::size_t begin, std::size_t end) {
  double bytes = 0;
  for (std::size_t i = begin; i < end; ++i) bytes += ops[i].last_user >= end ? ops[i].result_bytes : 0;
  return bytes;
}

double slowest_edge(const std::vector<RelaxedOp>& ops, std::size_t begin, std::size_t end) {
  double cycles = 0;
  for (std::size_t i = begin; i < end; ++i)
    for (const auto& o : ops[i].operands) cycles = std::max(cycles, o.other >= begin ? o.cycles : 0);
  return cycles;
}

struct Cost {
  double interval = kNever, total = kNever;
};

Cost epoch_cost(const std::vector<RelaxedOp>& ops, const RelaxedChip& chip, std::size_t begin, std::size_t end) {
  for (std::size_t i = begin + 1; i < end; ++i)
    if (ops[i].begins_epoch) return {};
  const TriedPace pace = best_pace(ops, begin, end, chip.cores);
  const double bound = std::max({pace.interval, slowest_edge(ops, begin, end), dram_bytes(ops, begin, end) / chip.dram_bytes_per_cycle});
  const double first = std::max(pace.latency, dram_bytes(ops, begin, end) / chip.dram_bytes_per_cycle);
  const double queues = chip.cycles_per_written_byte * written_bytes(ops, begin, end);
  double inputs = 0;
  for (std::size_t i = begin; i < end; ++i) inputs = std::max(inputs, ops[i].inputs > 0 ? ops[i].inputs : chip.inputs_per_epoch);
  const double all = chip.cycles_per_epoch + first + (inputs - 1) * bound;
  return {bound, all / chip.inputs_per_epoch + queues};
}

// Over all subsets of cuts.
double least_cost(const std::vector<RelaxedOp>& ops, const RelaxedChip& chip) {
  double least = kNever;
  for (std::uint32_t cuts = 0; cuts < 1u << (ops.size() - 1); ++cuts) {
    double sum = 0;
    std::size_t begin = 0;
    for (std::size_t end = 1; end <= ops.size(); ++end)
      if (end == ops.size() || (cuts >> (end - 1) & 1) != 0) {
        sum += epoch_cost(ops, chip, begin, end).total;
        begin = end;
      }
    least = std::min(least, sum);
  }
  return least;
}

std::vector<RelaxedOp> random_ops(Rng& rng) {
  std::vector<RelaxedOp> ops(1 + rng.below(8));
  for (std::size_t i = 0; i < ops.size(); ++i) {
    std::vector<CoreCost> choices;
    for (std::uint64_t n = 1 + rng.below(5); n > 0; --n)
      choices.push_back({static_cast<std::int64_t>(1 + rng.below(12)), static_cast<double>(1 + rng.below(200))});
    ops[i].choices = best_choices(choices);
    ops[i].begins_epoch = rng.below(6) == 0;
    ops[i].dram_bytes = static_cast<double>(rng.below(300));
    ops[i].result_bytes = static_cast<double>(rng.below(300));
    ops[i].last_user = i;
    for (std::uint64_t n = i == 0 ? 0 : rng.below(3); n > 0; --n) {
      const std::size_t producer = rng.below(i);
      ops[i].operands.push_back(
          {producer, static_cast<double>(rng.below(300)), rng.below(3) == 0 ? static_cast<double>(rng.below(400)) : 0});
      ops[producer].last_user = i;
    }
  }
  return ops;
}

TEST(RelaxedEpochs, NoCutsCostLess) {
  Rng rng(1);
  std::size_t several = 0, joined = 0;
  for (int round = 0; round < 400; ++round) {
    std::vector<RelaxedOp> ops = random_ops(rng);
    if (round % 3 == 0)
      for (std::size_t i = ops.size() / 2; i < ops.size(); ++i) ops[i].inputs = 1;
    RelaxedChip chip;
    chip.cores = static_cast<std::int64_t>(6 + rng.below(20));
    chip.dram_bytes_per_cycle = static_cast<double>(1 + rng.below(8));
    chip.inputs_per_epoch = static_cast<double>(1 + rng.below(64));
    chip.cycles_per_epoch = static_cast<double>(rng.below(1000));
    chip.cycles_per_written_byte = static_cast<double>(rng.below(3)) / 2;
    double sum = 0;
    std::size_t next = 0;
    const auto epochs = relaxed_epochs(ops, chip);
    for (const RelaxedEpoch& e : epochs) {
      ASSERT_EQ(e.begin, next);
      next = e.end;
      const Cost cost = epoch_cost(ops, chip, e.begin, e.end);
      EXPECT_DOUBLE_EQ(e.interval, cost.interval);
      sum += cost.total;
      joined += e.end - e.begin > 1 ? 1 : 0;
    }
    ASSERT_EQ(next, ops.size());
    EXPECT_NEAR(sum, least_cost(ops, chip), 1e-9 * sum) << "round " << round;
    const RelaxedCuts cuts(ops, chip);
    EXPECT_EQ(cuts.rest(ops.size()), 0);
    double rest = sum;
    for (const RelaxedEpoch& e : epochs) {
      EXPECT_NEAR(cuts.rest(e.begin), rest, 1e-9 * sum) << "round " << round;
      rest -= epoch_cost(ops, chip, e.begin, e.end).total;
      EXPECT_EQ(cuts.epoch_from(e.begin).cycles.size(), cuts.epoch_from(e.begin).end - e.begin);
    }
    several += epochs.size() > 1 ? 1 : 0;
  }
  EXPECT_GT(several, 50u);
  EXPECT_GT(joined, 50u);
}

// Two ops share eight cores: for a short interval evenly, for a short way of an input where a core saves most.
TEST(RelaxedEpochs, ShareCoresByTheGoal) {
  std::vector<RelaxedOp> ops(2);
  ops[0].choices = {{2, 100}, {6, 98}};
  ops[1].choices = {{2, 90}, {6, 30}};
  RelaxedChip chip;
  chip.cores = 8;
  chip.inputs_per_epoch = 1;
  chip.cycles_per_epoch = 1000;
  const auto interval = relaxed_epochs(ops, chip), latency = relaxed_epochs(ops, chip, RelaxedGoal::latency);
  ASSERT_EQ(interval.size(), 1u);
  EXPECT_THAT(interval[0].cycles, ::testing::ElementsAre(98, 98));
  ASSERT_EQ(latency.size(), 1u);
  EXPECT_THAT(latency[0].cycles, ::testing::ElementsAre(100, 30));
  EXPECT_EQ(latency[0].interval, 100);
}

// 4 cores save a cycle each, 6 save ten each: nobody wants 4.
TEST(RelaxedEpochs, ForTheLatencyLeaveOutWhatDoesNotPay) {
  std::vector<RelaxedOp> ops(2);
  ops[0].choices = {{2, 100}, {4, 98}, {6, 60}};
  ops[1].choices = {{1, 50}};
  RelaxedChip chip;
  chip.cores = 6;
  chip.cycles_per_epoch = 1000;
  const auto epochs = relaxed_epochs(ops, chip, RelaxedGoal::latency);
  ASSERT_EQ(epochs.size(), 1u);
  EXPECT_THAT(epochs[0].cycles, ::testing::ElementsAre(100, 50));
}

TEST(RelaxedEpochs, OfNoOpsAreNone) { EXPECT_TRUE(relaxed_epochs({}, {}).empty()); }

TEST(BestChoices, LeaveOutWhatAnotherBeats) {
  const auto best = best_choices({{4, 10}, {1, 30}, {2, 30}, {2, 20}, {4, 12}, {8, 10}, {9, 5}});
  std::vector<std::pair<std::int64_t, double>> found;
  for (const CoreCost& c : best) found.emplace_back(c.cores, c.cycles);
  EXPECT_THAT(found, ::testing::ElementsAre(std::pair(1, 30.0), std::pair(2, 20.0), std::pair(4, 10.0), std::pair(9, 5.0)));
}

}  // namespace
}  // namespace buda::balance
