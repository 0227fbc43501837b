// SPDX-License-Identifier: Apache-2.0
// Channels of buffers: even loads against exhaustive search, room, PyBuda's algorithms; and what is expected to move, against the streams.
#include <buda/balance/queues/divided_layouts.hpp>
#include <buda/balance/queues/dram_placement.hpp>
#include <buda/balance/queues/load_placement.hpp>

#include "unit/balance/fixture.hpp"

#include <buda/base/rng.hpp>

#include <cmath>

namespace buda::balance {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::Ne;
using ::testing::SizeIs;

std::vector<LoadedBuffer> buffers_of_epoch(const std::vector<std::uint64_t>& bytes) {
  std::vector<LoadedBuffer> out;
  for (std::uint64_t b : bytes) out.push_back({b, {{0, false, false, b}}, -1});
  return out;
}

std::uint64_t busiest(const std::vector<std::uint64_t>& bytes, const std::vector<std::int32_t>& channels, std::size_t count) {
  std::vector<std::uint64_t> loads(count, 0);
  for (std::size_t i = 0; i < bytes.size(); ++i) loads[static_cast<std::size_t>(channels[i])] += bytes[i];
  return *std::max_element(loads.begin(), loads.end());
}

// The least that the busiest channel can have.
std::uint64_t optimum(const std::vector<std::uint64_t>& bytes, std::size_t count) {
  std::vector<std::int32_t> channels(bytes.size(), 0);
  std::uint64_t least = UINT64_MAX;
  for (std::int64_t code = 0; code < static_cast<std::int64_t>(std::pow(count, bytes.size())); ++code) {
    std::int64_t rest = code;
    for (std::int32_t& c : channels) {
      c = static_cast<std::int32_t>(rest % static_cast<std::int64_t>(count));
      rest /= static_cast<std::int64_t>(count);
    }
    least = std::min(least, busiest(bytes, channels, count));
  }
  return least;
}

TEST(ByLoad, OneEpochIsNearTheOptimum) {
  Rng rng(17);
  std::uint64_t sum = 0, best = 0;
  for (int round = 0; round < 200; ++round) {
    std::vector<std::uint64_t> bytes;
    for (std::uint64_t i = 0, n = 3 + rng.below(6); i < n; ++i) bytes.push_back(1000 + rng.below(20000));
    const std::uint64_t found = busiest(bytes, place_by_load(buffers_of_epoch(bytes), ChannelRoom({1 << 30, 1 << 30, 1 << 30}, 1)), 3);
    const std::uint64_t least = optimum(bytes, 3);
    EXPECT_LE(found, least * 4 / 3);
    sum += found;
    best += least;
  }
  EXPECT_LE(static_cast<double>(sum), 1.02 * static_cast<double>(best));
}

TEST(DividedLayouts, HoldTheSameTensorInPartsOfOneSide) {
  tiling::TileLayout layout;
  layout.grid = {1, 2};
  layout.block = {.t = 3, .mblock_m = 2, .mblock_n = 1, .ublock_rt = 3, .ublock_ct = 5};
  const auto divided = divided_layouts(layout, 6);
  std::vector<GridShape> grids;
  for (const tiling::TileLayout& d : divided) {
    EXPECT_EQ(d.shape(), layout.shape());
    grids.push_back(d.grid);
  }
  EXPECT_EQ(grids, (std::vector<GridShape>{{2, 2}, {3, 2}, {1, 10}, {6, 2}}));
}

TEST(EpochMeans, TellWhatABufferHasOfAChannelsMean) {
  const auto moves = [](std::int32_t epoch, bool written, std::uint64_t bytes) { return BufferUse{{{epoch, false, written, bytes}}, {}}; };
  const QueueUse large{moves(0, false, 600)}, parts{moves(0, false, 100), moves(0, false, 100)}, result{moves(0, true, 800)};
  const QueueUse later{moves(1, false, 90)};
  const EpochMeans means({large, parts, result, later}, 4, 100);
  EXPECT_DOUBLE_EQ(means.busiest_share(large), 3);  // 600 of 200 read through each channel; of 400 in all it would be 1.5
  EXPECT_DOUBLE_EQ(means.busiest_share(parts), 0.5);
  EXPECT_DOUBLE_EQ(means.busiest_share(result), 2);
  EXPECT_DOUBLE_EQ(means.busiest_share(later), 0);  // an epoch that reads too little to count
}

TEST(EpochMeans, TellWhetherBuffersAreReadOneAfterTheOther) {
  QueueUse in_turn(8), at_once(8);
  for (std::int32_t b = 0; b < 8; ++b) {
    const auto i = static_cast<std::size_t>(b);
    for (QueueUse* use : {&in_turn, &at_once}) (*use)[i].loads.push_back({0, false, false, 80});
    in_turn[i].turns.push_back({0, false, 0, b, 80});
    for (std::int32_t part = 0; part < 8; ++part) at_once[i].turns.push_back({0, false, 0, part, 10});
  }
  const EpochMeans means({in_turn, at_once}, 4, 100);
  EXPECT_DOUBLE_EQ(means.busiest_share(in_turn), 0.5);   // a quarter of 640, which one channel moves at a time, of 320
  EXPECT_DOUBLE_EQ(means.busiest_share(at_once), 0.25);  // 80 of 320
}

// An input and weights that one core after the other reads would each keep one channel busy.
TEST(ByLoad, LargeBuffersOfAnEpochAreDivided) {
  const auto most_to_mean = [](const BalanceOptions& options) {
    DeviceGraph g;
    auto x = g.input("x", {1, 1, 512, 2048}, {512, 2048});
    auto y = g.linear("fc", x, 512, 2048, 64);
    g.output("y", y, {512, 64});
    auto result = balance_with(g.graph, "n150", options, *some_policy(2));
    EXPECT_TRUE(result.ok());
    double most = 0, sum = 0;
    for (const ChannelBytes& c : result->built.laid_out.loads.at(0).channels) {
      most = std::max(most, static_cast<double>(c.read + c.before));
      sum += static_cast<double>(c.read + c.before);
    }
    return most * 6 / sum;
  };
  EXPECT_LE(most_to_mean({}), 1.25);
  BalanceOptions whole;
  whole.queues.divided_from = UINT64_MAX;
  EXPECT_GT(most_to_mean(whole), 2);
}

// Two epochs that read the same buffers in different amounts: what is even for one alone is not for the other.
TEST(ByLoad, EpochsThatShareBuffersAreBothEven) {
  std::vector<LoadedBuffer> buffers;
  for (std::uint64_t i = 0; i < 24; ++i)
    buffers.push_back(
        {1 << 20, {{0, false, false, (1 + i % 4) << 20}, {1, false, true, (1 + i / 6) << 20}, {1, true, false, 1 << 18}}, -1});
  const auto channels = place_by_load(buffers, ChannelRoom(std::vector<std::uint64_t>(6, 1 << 30), 1));
  for (std::int32_t epoch : {0, 1}) {
    std::vector<double> loads(6, 0);
    double sum = 0;
    for (std::size_t i = 0; i < buffers.size(); ++i)
      for (const BufferLoad& load : buffers[i].loads)
        if (load.epoch == epoch) {
          loads[static_cast<std::size_t>(channels[i])] += static_cast<double>(load.bytes);
          sum += static_cast<double>(load.bytes);
        }
    EXPECT_LE(*std::max_element(loads.begin(), loads.end()), 1.1 * sum / 6) << epoch;
  }
}

// Two queues of two buffers each, whose cores read the first and then the second: what is read at the same time lies apart.
TEST(ByLoad, BuffersThatAreReadAtTheSameTimeLieApart) {
  std::vector<LoadedBuffer> buffers;
  for (std::int32_t queue : {0, 1})
    for (std::int32_t part : {0, 1}) {
      LoadedBuffer buffer{1 << 20, {{0, true, false, 1 << 20}}};
      buffer.turns.push_back({0, true, 0, part, 1 << 20});
      // One channel is even over the epoch with the first buffers, and the other with the second ones.
      if (queue == 0) buffer.fixed = part;
      buffers.push_back(std::move(buffer));
    }
  EXPECT_THAT(place_by_load(buffers, ChannelRoom({1 << 30, 1 << 30}, 1)), ElementsAre(0, 1, 1, 0));
}

// A core that takes the parts of a queue one after the other; before an epoch, the turns of all ops are the same.
TEST(QueueLoads, TellWhenBuffersAreRead) {
  DeviceGraph g;
  auto x = g.input("x", {1, 1, 32, 512}, {32, 512});
  g.output("y", g.linear("fc", x, 32, 512, 64), {32, 64});
  auto result = balance_with(g.graph, "n150", {}, *some_policy(1));
  ASSERT_TRUE(result.ok());
  const netlist::Op& op = result->built.netlist.graphs.at(0).ops.at(0);
  tiling::TileLayout layout;
  layout.grid = {4, 1};
  layout.block = {.t = 1, .mblock_m = 1, .mblock_n = 1, .ublock_rt = 4, .ublock_ct = 2};
  const auto routes = edge_routes(layout, op.inputs.at(1).maps, op, 1);
  ASSERT_TRUE(std::holds_alternative<tiling::EdgeRoutes>(routes));
  QueueUse use(4);
  add_reader(std::get<tiling::EdgeRoutes>(routes), op, {.epoch = 3, .op = 5, .tile_bytes = 2080}, use);
  for (std::int32_t buffer = 0; buffer < 4; ++buffer) {
    std::vector<std::int32_t> parts;
    std::uint64_t bytes = 0;
    for (const BufferTurn& turn : use[static_cast<std::size_t>(buffer)].turns) {
      EXPECT_EQ(turn.epoch, 3);
      EXPECT_EQ(turn.reader, 5);
      parts.push_back(turn.part);
      bytes += turn.bytes;
    }
    EXPECT_THAT(parts, ElementsAre(2 * buffer, 2 * buffer + 1));
    EXPECT_EQ(bytes, use[static_cast<std::size_t>(buffer)].loads.at(0).bytes);
  }
}

// Two buffers that each fill a half, and two that fill half of one, are as even by halves if one channel holds both large ones.
TEST(ByLoad, WholeChannelsAreLoadedAlikeToo) {
  const auto halves = place_by_load(buffers_of_epoch({400, 400, 200, 200}), ChannelRoom(std::vector<std::uint64_t>(4, 1 << 30), 1), true);
  EXPECT_THAT(std::set<std::int32_t>(halves.begin(), halves.end()), SizeIs(4));
  EXPECT_NE(halves[0] / 2, halves[1] / 2);
}

TEST(ByLoad, ChannelsWithoutRoomAndFixedBuffersAreRespected) {
  auto buffers = buffers_of_epoch({400, 400, 400, 100, 100});
  buffers[3].fixed = 2;
  buffers[3].takes_room = false;
  const auto channels = place_by_load(buffers, ChannelRoom({0, 1000, 450}, 1));
  EXPECT_EQ(channels[3], 2);
  EXPECT_THAT(channels, Each(Ge(1)));
  std::uint64_t in_last = 0;
  for (std::size_t i : {0u, 1u, 2u, 4u})
    if (channels[i] == 2) in_last += buffers[i].bytes;
  EXPECT_LE(in_last, 450u);
}

TEST(ByLoad, BuffersThatTheUserPlacesTakeRoomFromOthers) {
  auto buffers = buffers_of_epoch({400, 400, 300});
  buffers[2].fixed = 1;
  const auto channels = place_by_load(buffers, ChannelRoom({400, 699, 400}, 1));
  EXPECT_THAT(channels, ElementsAre(Ne(1), Ne(1), 1));
}

// ---- PyBuda's algorithms

UnplacedBuffer buffer(std::uint64_t bytes, std::optional<std::int32_t> writer_epoch = {}, std::vector<BufferEnd> ends = {}) {
  UnplacedBuffer out{bytes, false, writer_epoch, {}, {}};
  out.use.ends = std::move(ends);
  if (!out.use.ends.empty()) out.use.loads.push_back({out.use.ends.front().epoch, false, false, bytes});
  return out;
}

DramRoom room_of(std::vector<std::uint64_t> channels) { return {std::move(channels), -1, 0, 1}; }

// As many buffers as there are halves of channels, all of one epoch.
TEST(DramAlgorithms, HalvesOfChannelsAreLoadedAlike) {
  const std::vector<UnplacedBuffer> buffers(6, buffer(10, {}, {{0, {0, 0}, false}}));
  DramRoom room = room_of({100, 100, 100});
  room.halves = {50, 50, 50, 50, 50, 50};
  auto banks = choose_banks(DramAlgorithm::by_load, buffers, room, board("n150"));
  for (std::size_t a = 0; a < banks.size(); ++a)
    for (std::size_t b = 0; b < a; ++b) EXPECT_FALSE(banks[a] == banks[b]);
  for (const DramBank& bank : banks) EXPECT_NE(bank.half, DramBank::kEitherHalf);
}

TEST(DramAlgorithms, TurnsPassOverFullChannels) {
  const std::vector<UnplacedBuffer> five(5, buffer(10));
  EXPECT_THAT(choose_banks(DramAlgorithm::round_robin, five, room_of({10, 0, 100, 100}), board("n150")), ElementsAre(0, 2, 3, 2, 3));
}

TEST(DramAlgorithms, FlipFlopDividesTheChannelsByEpochs) {
  const std::vector<UnplacedBuffer> buffers{buffer(1), buffer(1, 0), buffer(1, 1), buffer(1, 1), buffer(1, 2), buffer(1, 3), buffer(1)};
  EXPECT_THAT(choose_banks(DramAlgorithm::flip_flop, buffers, room_of({9, 9, 9, 9}), board("n150")), ElementsAre(0, 0, 2, 3, 1, 2, 1));
}

TEST(DramAlgorithms, GreatestCapacityGoesByFreeBytes) {
  const std::vector<UnplacedBuffer> buffers(4, buffer(10));
  EXPECT_THAT(choose_banks(DramAlgorithm::greatest_capacity, buffers, room_of({15, 30, 28}), board("n150")), ElementsAre(1, 2, 1, 2));
}

// Channels of an n150 stand at columns 0 (two) and 5; a worker beside a port takes that channel, a second buffer of its epoch another one.
TEST(DramAlgorithms, ClosestTakesTheNearestUnusedChannel) {
  const auto& device = board("n150");
  const std::vector<UnplacedBuffer> buffers(2, buffer(1, {}, {{0, {0, 0}, false}}));
  const auto room = room_of(std::vector<std::uint64_t>(device.dram.channels.size(), 100));
  const auto channels = choose_banks(DramAlgorithm::closest, buffers, room, device);
  EXPECT_EQ(channels[0], 0);
  EXPECT_NE(channels[1], channels[0]);
}

TEST(DramAlgorithms, WhatTheHostWritesLiesInItsWindowWhileThereIsRoom) {
  std::vector<UnplacedBuffer> buffers(3, buffer(10));
  for (UnplacedBuffer& b : buffers) b.for_host = true;
  for (DramAlgorithm algorithm : {DramAlgorithm::by_load, DramAlgorithm::round_robin}) {
    const auto channels = choose_banks(algorithm, buffers, {{0, 0, 0, 90}, 2, 25, 1}, board("n150"));
    EXPECT_THAT(channels, ElementsAre(2, 2, 3));
  }
}

}  // namespace
}  // namespace buda::balance
