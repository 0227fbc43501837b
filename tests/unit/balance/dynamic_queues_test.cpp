// SPDX-License-Identifier: Apache-2.0
// Dynamic queues: bytes over time against sums by hand, addresses against an independent check of overlaps, and programs that allocate.
#include <buda/balance/queues/channel_room.hpp>
#include <buda/balance/queues/dynamic_dram.hpp>

#include "unit/balance/fixture.hpp"

#include <buda/base/rng.hpp>

#include <numeric>
#include <utility>

namespace buda::balance {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Lifetime some_life(Rng& rng, std::int32_t epochs) {
  if (rng.below(4) == 0) return std::nullopt;
  const auto first = static_cast<std::int32_t>(rng.below(static_cast<std::uint64_t>(epochs)));
  return EpochSpan{first, first + static_cast<std::int32_t>(rng.below(static_cast<std::uint64_t>(epochs - first)))};
}

bool is_alive(const Lifetime& life, std::int32_t epoch) { return !life || (life->first <= epoch && epoch <= life->last); }

TEST(ChannelRoom, IsWhatTheFullestEpochOfALifetimeLeaves) {
  Rng rng(3);
  for (std::int32_t epochs : {1, 2, 5, 13}) {
    ChannelRoom room({1000}, epochs);
    std::vector<std::pair<std::uint64_t, Lifetime>> taken;
    for (int step = 0; step < 200; ++step) {
      if (!taken.empty() && rng.below(3) == 0) {
        const std::size_t at = rng.below(taken.size());
        room.give_back(0, taken[at].first, taken[at].second);
        taken.erase(taken.begin() + static_cast<std::ptrdiff_t>(at));
      } else {
        taken.emplace_back(rng.below(60), some_life(rng, epochs));
        room.take(0, taken.back().first, taken.back().second);
      }
      const Lifetime asked = some_life(rng, epochs);
      std::uint64_t most = 0;
      for (std::int32_t e = 0; e < epochs; ++e) {
        std::uint64_t sum = 0;
        for (const auto& [bytes, life] : taken)
          if (is_alive(life, e)) sum += bytes;
        if (is_alive(asked, e)) most = std::max(most, sum);
      }
      ASSERT_EQ(room.left(0, asked), most < 1000 ? 1000 - most : 0) << "epochs " << epochs << ", step " << step;
    }
  }
}

TEST(PeakBytes, CountsWhatIsAliveTogether) {
  EXPECT_EQ(peak_bytes({{std::nullopt, 5}, {EpochSpan{0, 1}, 10}, {EpochSpan{1, 2}, 20}, {EpochSpan{2, 3}, 15}}, 4), 40);
  EXPECT_EQ(peak_bytes({}, 0), 0);
}

netlist::Queue queue_of(const std::string& name, std::int32_t buffers, std::int32_t tiles) {
  netlist::Queue q;
  q.name = name;
  q.entries = 1;
  q.grid = {1, buffers};
  q.block = {.t = 1, .mblock_m = 1, .mblock_n = 1, .ublock_rt = 1, .ublock_ct = tiles};
  q.format = DataFormat::float16_b;
  return q;
}

TEST(DynamicDram, QueuesThatAreAliveTogetherShareNoByte) {
  const auto& device = board("n150");
  Rng rng(8);
  DramAllocator statics(device);
  const std::vector<DramBank> channels(8, 0);
  ASSERT_TRUE(statics.allocate(queue_of("weights", 8, 100), channels, false, device).ok());
  DynamicDram dram(statics);
  struct Placed {
    std::int32_t channel;
    std::uint64_t begin, end;
    EpochSpan life;
  };
  std::vector<Placed> placed;
  std::vector<SpanBytes> all;
  for (int i = 0; i < 300; ++i) {
    const netlist::Queue q =
        queue_of(cat("q", i), 1 + static_cast<std::int32_t>(rng.below(8)), 1 + static_cast<std::int32_t>(rng.below(200)));
    const EpochSpan life = some_life(rng, 12).value_or(EpochSpan{0, 11});
    auto buffers = dram.allocate(q, channels, life, device);
    ASSERT_TRUE(buffers.ok());
    const std::uint64_t bytes = *buffer_bytes(q, device);
    for (const netlist::BufferAddress& b : *buffers) placed.push_back({b.channel, b.address, b.address + bytes, life});
    all.push_back({life, static_cast<double>(bytes * buffers->size())});
  }
  std::uint64_t shared = 0;
  for (std::size_t a = 0; a < placed.size(); ++a)
    for (std::size_t b = 0; b < a; ++b) {
      const Placed &x = placed[a], &y = placed[b];
      const bool overlap = x.channel == y.channel && x.begin < y.end && y.begin < x.end;
      shared += overlap ? 1 : 0;
      EXPECT_FALSE(overlap && x.life.first <= y.life.last && y.life.first <= x.life.last);
    }
  EXPECT_GT(shared, 0u);
  const auto used = dram.used();
  EXPECT_LT(static_cast<double>(std::accumulate(used.begin(), used.end(), std::uint64_t{0})), 1.2 * peak_bytes(all, 12));
}

TEST(DynamicDram, SaysWhatIsMissing) {
  const auto& device = board("n150");
  DramAllocator statics(device);
  DynamicDram dram(statics);
  const std::vector<DramBank> channels(1, 3);
  auto first = queue_of("a", 1, 1);
  first.entries = static_cast<std::int32_t>(statics.largest_block() / 2080) - 100;
  while (dram.allocate(first, channels, {0, 1}, device).ok()) {
  }
  EXPECT_TRUE(dram.allocate(first, channels, {2, 2}, device).ok());
  auto more = dram.allocate(first, channels, {1, 2}, device);
  ASSERT_FALSE(more.ok());
  EXPECT_EQ(more.failure().diagnostics()[0].code, "BL016");
  EXPECT_THAT(more.failure().diagnostics()[0].message, HasSubstr("the largest free block"));
}

// Four ops, an epoch each; the last reads the first, too.
DeviceGraph chain() {
  DeviceGraph g;
  auto a = g.op("a", "exp", {g.input("x", {1, 1, 64, 64})}, {1, 1, 64, 64});
  auto b = g.op("b", "exp", {a}, {1, 1, 64, 64});
  auto c = g.op("c", "exp", {b}, {1, 1, 64, 64});
  g.output("y", g.op("d", "add", {c, a}, {1, 1, 64, 64}));
  return g;
}

BalanceOptions one_op_an_epoch(std::int32_t batches) {
  BalanceOptions options;
  for (const char* op : {"b", "c", "d"}) options.overrides[cat(op, ".epoch-break")] = "true";
  options.batches = batches;
  return options;
}

TEST(DynamicQueues, HaveMemoryFromTheirWriterToTheirLastReader) {
  auto result = balance_with(chain().graph, "n150", one_op_an_epoch(4));
  ASSERT_TRUE(result.ok()) << text_of(result.failure());
  expect_sound(*result, "n150");
  std::map<std::string, std::vector<std::int64_t>> epochs;
  for (const ReportQueue& q : result->report.queues) {
    epochs[q.name] = q.epochs;
    if (!q.epochs.empty()) EXPECT_EQ(q.entries, 4);
  }
  EXPECT_THAT(epochs["e2e_a_0"], ElementsAre(0, 3));
  EXPECT_THAT(epochs["e2e_b_0"], ElementsAre(1, 2));
  EXPECT_THAT(epochs["e2e_c_0"], ElementsAre(2, 3));
  EXPECT_TRUE(epochs["x"].empty());
  std::vector<std::string> steps;
  for (const netlist::Instruction& i : result->built.netlist.programs.at(0).instructions) {
    if (const auto* a = std::get_if<netlist::instruction::Allocate>(&i.what))
      for (const auto& q : a->queues) steps.push_back(cat("+", q));
    if (const auto* d = std::get_if<netlist::instruction::Deallocate>(&i.what))
      for (const auto& q : d->queues) steps.push_back(cat("-", q));
    if (const auto* e = std::get_if<netlist::instruction::Execute>(&i.what)) steps.push_back(e->graph);
  }
  EXPECT_THAT(steps, ElementsAre("+e2e_a_0", "fwd_0_0", "+e2e_b_0", "fwd_0_1", "+e2e_c_0", "fwd_0_2", "-e2e_b_0", "fwd_0_3", "-e2e_a_0",
                                 "-e2e_c_0"));
}

TEST(DynamicQueues, StaticOnesHaveRoomForTwoRounds) {
  BalanceOptions options = one_op_an_epoch(4);
  options.dynamic_queues = false;
  auto result = balance_with(chain().graph, "n150", options);
  ASSERT_TRUE(result.ok()) << text_of(result.failure());
  expect_sound(*result, "n150");
  for (const ReportQueue& q : result->report.queues) {
    EXPECT_TRUE(q.epochs.empty());
    if (q.role == "epoch-to-epoch") EXPECT_EQ(q.entries, 8);
  }
}

// Results of 32 MiB an input: static queues of all of them would need 64 times as much.
TEST(DynamicQueues, LetMoreInputsPassInAnEpoch) {
  DeviceGraph g;
  graph::Edge last(g.input("x", {1, 1, 4096, 4096}));
  BalanceOptions options;
  for (int i = 0; i < 8; ++i) {
    last = graph::Edge(g.op(cat("op", i), "exp", {last}, {1, 1, 4096, 4096}));
    options.overrides[cat("op", i, ".epoch-break")] = "true";
  }
  g.output("y", last);
  options.batches = 48;
  auto dynamic = balance_with(g.graph, "n150", options);
  ASSERT_TRUE(dynamic.ok()) << text_of(dynamic.failure());
  expect_sound(*dynamic, "n150");
  options.dynamic_queues = false;
  EXPECT_FALSE(balance_with(g.graph, "n150", options).ok());
}

}  // namespace
}  // namespace buda::balance
