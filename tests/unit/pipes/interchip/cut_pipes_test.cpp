// SPDX-License-Identifier: Apache-2.0
// Segments of pipes between chips, and their relays.
#include <buda/pipes/interchip/cut_pipes.hpp>
#include <buda/pipes/plan/plan_epoch.hpp>

#include "unit/pipes/interchip/links.hpp"

#include <gmock/gmock.h>

namespace buda::pipes {
namespace {

using ::testing::ElementsAre;

class CutPipes : public ::testing::Test {
 protected:
  CutPipes() { plan_.device = &device_; }
  Segments cut(std::vector<InterChipPipe> pipes, std::size_t routes = 1) {
    RouteGroup group{0, pipes.size(), {}};
    for (std::int32_t i = 0; i < static_cast<std::int32_t>(routes); ++i) group.routes.push_back({{0, i, 1, i}});
    return cut_pipes(std::move(pipes), {group}, relays_);
  }
  static std::vector<BufferType> types(const Segments& s) {
    std::vector<BufferType> out;
    for (const Buffer& b : s.relays) out.push_back(b.type);
    return out;
  }
  static constexpr BufferType kWorker = BufferType::relay, kEthernet = BufferType::ethernet_relay;

  device::DeviceDescriptor device_ = mesh_of(2);
  EpochPlan plan_;
  IdSequence ids_{1000 * kIdStep};
  RelayAllocator relays_{plan_, ids_};
};

TEST_F(CutPipes, OneCoreSendsToTheLinkItself) {
  const Segments s = cut({pipe_between(0, 1, {{7}})});
  EXPECT_THAT(types(s), ElementsAre(kEthernet, kEthernet));
  ASSERT_EQ(s.pipes.size(), 3u);
  EXPECT_THAT(s.pipes[0].inputs, ElementsAre(101 * kIdStep));
  EXPECT_THAT(s.pipes[1].inputs, ElementsAre(s.relays[0].id));
  EXPECT_TRUE(s.pipes[1].ethernet_pipe);
  EXPECT_THAT(s.pipes[2].inputs, ElementsAre(s.relays[1].id));
  EXPECT_EQ(s.pipes[2].id, 1 * kIdStep) << "the last segment keeps the id";
  EXPECT_EQ(s.pipes[2].outputs, (std::vector<std::vector<Id>>{{7}}));
  EXPECT_EQ(s.pipes[2].ethernet_chan, 0);
  EXPECT_EQ(s.relays[0].chip, 0);
  EXPECT_EQ(s.relays[1].chip, 1);
  EXPECT_EQ(s.relays[0].epoch_tiles, 4 * 6);
  EXPECT_EQ(s.relays[0].size_tiles, 8192 / 2080);
}

TEST_F(CutPipes, SeveralBlocksAreGathered) {
  InterChipPipe pipe = pipe_between(0, 1, {{7}});
  pipe.pipe.inputs = {101 * kIdStep, 102 * kIdStep};
  pipe.pipe.periodic_repeat = 2;
  const Segments s = cut({pipe});
  EXPECT_THAT(types(s), ElementsAre(kWorker, kEthernet, kEthernet));
  EXPECT_EQ(s.relays[0].core, (GridCoord{2, 1})) << "where the tiles are produced";
  EXPECT_EQ(s.pipes[0].periodic_repeat, 2);
  EXPECT_EQ(s.pipes.back().periodic_repeat, 0);
}

TEST_F(CutPipes, AQueueIsReadAndWrittenByWorkers) {
  InterChipPipe read = pipe_between(0, 1, {{7}}), written = pipe_between(1, 2, {{8}});
  read.transfer.from_queue = true;
  read.transfer.source_worker.reset();
  written.transfer.to_queue = true;
  EXPECT_THAT(types(cut({read})), ElementsAre(kWorker, kEthernet, kEthernet));
  const Segments s = cut({written});
  EXPECT_THAT(types(s), ElementsAre(kEthernet, kEthernet, kWorker));
  EXPECT_EQ(s.pipes.back().mcast_core.front().core, s.relays.back().core);
}

TEST_F(CutPipes, SharedRoutesEndInAScatteredRelay) {
  InterChipPipe a = pipe_between(0, 1, {{7}}), b = pipe_between(0, 2, {{8}});
  b.transfer.pass_tiles = 6;
  b.pipe.periodic_repeat = 3;
  const Segments s = cut({a, b});
  EXPECT_THAT(types(s), ElementsAre(kWorker, kEthernet, kEthernet));
  EXPECT_THAT(s.pipes[0].inputs, ElementsAre(101 * kIdStep, 102 * kIdStep, 102 * kIdStep, 102 * kIdStep)) << "a's part, then b's";
  const Buffer& last = s.relays.back();
  EXPECT_TRUE(last.is_scatter);
  EXPECT_EQ(last.scatter_gather_num_tiles, 2);
  EXPECT_EQ(last.replicate, 5);
  EXPECT_EQ(last.epoch_tiles, 10 * 6 / 5);
  ASSERT_EQ(s.pipes.size(), 5u);
  EXPECT_THAT(s.pipes[3].inputs, ElementsAre(last.id, last.id + 2));
  EXPECT_THAT(s.pipes[4].inputs, ElementsAre(last.id + 4, last.id + 6, last.id + 8));
}

TEST_F(CutPipes, ReceiversAreSeparatedAtTheProducer) {
  InterChipPipe pipe = pipe_between(0, 1, {{7}, {8}, {7}});
  pipe.transfer.passes = 5;
  const Segments s = cut({pipe}, 2);
  EXPECT_THAT(types(s), ElementsAre(kWorker, kWorker, kEthernet, kEthernet, kEthernet, kEthernet));
  const Id first = s.relays[0].id, second = s.relays[1].id;
  EXPECT_EQ(s.pipes[0].outputs, (std::vector<std::vector<Id>>{{first}, {second}, {first}}));
  EXPECT_EQ(s.relays[0].epoch_tiles, 4 * 3);
  EXPECT_EQ(s.relays[1].epoch_tiles, 4 * 2);
  ASSERT_EQ(s.pipes.size(), 7u);
  EXPECT_EQ(s.pipes[3].outputs, (std::vector<std::vector<Id>>{{7}}));
  EXPECT_EQ(s.pipes[3].id, 1 * kIdStep);
  EXPECT_EQ(s.pipes[6].outputs, (std::vector<std::vector<Id>>{{8}}));
}

TEST_F(CutPipes, AnOpOnAnEthernetCoreReadsAtTheEndOfTheLink) {
  const ChipRoute route = {{0, 0, 1, 0}};
  InterChipPipe pipe = pipe_between(0, 1, {{7}});
  pipe.transfer.fixed_route = &route;
  const Segments s = cut({pipe});
  EXPECT_THAT(types(s), ElementsAre(kEthernet));
  EXPECT_TRUE(s.pipes.back().ethernet_pipe);
  EXPECT_EQ(s.pipes.back().mcast_core.front(), (CoreCoord{1, ethernet_core(device_, 0)}));
}

TEST_F(CutPipes, RowPiecesKeepTheirOffset) {
  InterChipPipe pipe = pipe_between(0, 1, {{7}});
  pipe.transfer.from_queue = true;
  pipe.transfer.rows = Transfer::RowPieces{256, 24};
  const Segments s = cut({pipe});
  EXPECT_EQ(s.relays.front().rows.tilize_row_col_offset, 256);
  EXPECT_EQ(s.relays.front().size_tiles, 24);
}

// An op counts like four relays, so the first go to workers without one.
TEST(Relays, LeastLoadedWorkersComeFirst) {
  Built b(netlist_text(queue_text("q", "HOST", "grid_size: [1, 1], t: 1, mblock: [1, 1], ublock: [1, 1]", 1, 0x20000000) +
                           queue_text("out", "n", "grid_size: [1, 1], t: 1, mblock: [1, 1], ublock: [1, 1]", 1, 0x30000000),
                       op_text("n", "nop", "q", 1, "grid_loc: [0, 0], grid_size: [1, 1]",
                               "t: 1, mblock: [1, 1], ublock: [1, 1], ublock_order: r, buf_size_mb: 2"),
                       1));
  ASSERT_TRUE(b.ok()) << b.problem;
  auto plan = plan_epoch(*b.index, *b.device, b.epochs.front(), b.cluster());
  ASSERT_TRUE(plan.ok());
  IdSequence ids(kFirstId);
  RelayAllocator relays(*plan, ids);
  const std::int32_t workers = b.device->grid().volume();
  EXPECT_EQ(relays.worker(0), (GridCoord{0, 1}));
  for (std::int32_t i = 1; i < 4 * (workers - 1); ++i) EXPECT_NE(relays.worker(0), (GridCoord{0, 0})) << i;
  EXPECT_EQ(relays.worker(0), (GridCoord{0, 0}));
  const Transfer transfer = pipe_between(0, 1, {{7}}).transfer;
  const CoreCoord at{0, {1, 1}};
  EXPECT_EQ(relays.relay(BufferType::relay, at, transfer).operand, kRelayOperand);
  EXPECT_EQ(relays.relay(BufferType::relay, at, transfer).operand, kRelayOperand + 1);
}

}  // namespace
}  // namespace buda::pipes
