// SPDX-License-Identifier: Apache-2.0
// From plans to streams: numbers, connections, reads and writes.
#include <buda/overlay/plan/planner.hpp>
#include <buda/overlay/streams/allocator.hpp>
#include <buda/overlay/streams/dram_table.hpp>
#include <buda/overlay/streams/stream_pool.hpp>
#include <buda/overlay/streams/transfer_sizes.hpp>

#include "unit/overlay/hand_made.hpp"

#include <gmock/gmock.h>

namespace buda::overlay {
namespace {

using testing::HasSubstr;

// Op 1 sends to ops 2 and 3.
pipes::PipeGraph fork() {
  pipes::PipeGraph g;
  g.buffers = {made_buffer(1, BufferType::packer, {0, 0}), made_buffer(2, BufferType::unpacker, {0, 1}),
               made_buffer(3, BufferType::unpacker, {0, 2})};
  g.pipes = {made_pipe(11, {id_of(1)}, {{id_of(2)}}), made_pipe(12, {id_of(1)}, {{id_of(3)}})};
  return g;
}

TEST(StreamAllocator, AnOutputSendsWithItsOwnStreamAndForks) {
  const pipes::PipeGraph graph = fork();
  HandMade epoch(graph);
  const EpochInput in = epoch.input();
  const CoreMap cores = collect_cores(in, epoch.violations);
  const PipePlans plans = plan_pipes(in, epoch.violations);
  const StreamAllocation out = allocate_streams(in, cores, plans, no_shared_reads(plans), epoch.violations);
  ASSERT_EQ(epoch.problems(), "");
  ASSERT_EQ(out.pipes.size(), 2u);
  const StreamRef own = out.pipes[0].senders.front(), forked = out.pipes[1].senders.front();
  EXPECT_EQ(own, (StreamRef{0, in.device.streams.first_output}));
  EXPECT_EQ(forked, (StreamRef{0, in.device.streams.first_extra}));
  EXPECT_EQ(out.streams.at(forked).fork_of, own.stream);
  EXPECT_EQ(out.streams.at(own).bytes, 8u * 2080);
  for (const PipeStreams& pipe : out.pipes) {
    const StreamRef sender = pipe.senders.front(), receiver = pipe.targets.front().receivers.front();
    EXPECT_TRUE(pipe.targets.front().chain.empty());
    EXPECT_EQ(out.streams.at(sender).destinations, (std::vector<Destination>{{receiver, receiver.core}}));
    EXPECT_EQ(out.streams.at(receiver).sources, (std::vector<StreamRef>{sender}));
    EXPECT_TRUE(out.streams.at(sender).phases.empty());
    EXPECT_EQ(out.streams.at(sender).address, 0u);
  }
}

TEST(StreamPool, GivesOutStreamsUntilNoneIsLeft) {
  const pipes::PipeGraph graph = fork();
  HandMade epoch(graph);
  const EpochInput in = epoch.input();
  const CoreMap cores = collect_cores(in, epoch.violations);
  const PipePlans plans = plan_pipes(in, epoch.violations);
  StreamPool pool(in, cores, plans, epoch.violations);
  for (std::int32_t n = 0; n < in.device.streams.multicast_per_core; ++n)
    EXPECT_EQ(pool.take_multicast(0, graph.pipes.front()), (StreamRef{0, n}));
  EXPECT_FALSE(pool.take_multicast(0, graph.pipes.front()).has_value());
  EXPECT_THAT(epoch.problems(), HasSubstr("OV013"));
  for (std::int32_t n = in.device.streams.first_extra; n < in.device.streams.per_core; ++n)
    EXPECT_EQ(pool.take_free(plans.pipes.front(), 1, StreamKind::relay), (StreamRef{1, n}));
  EXPECT_FALSE(pool.take_free(plans.pipes.front(), 1, StreamKind::relay).has_value());
  EXPECT_THAT(epoch.problems(), HasSubstr("OV012"));
  EXPECT_EQ(pool.add({2, 5}, StreamKind::input)->kind, StreamKind::input);
  EXPECT_EQ(pool.add({2, 5}, StreamKind::input), nullptr);
}

TEST(DramTable, NumbersBuffersInOrderOfUse) {
  const pipes::PipeGraph graph;
  HandMade epoch(graph);
  const EpochInput in = epoch.input();
  DramTable table(in, epoch.violations);
  Buffer first = made_buffer(1, BufferType::dram_io, {pipes::kNoCore, pipes::kNoCore}), second = first;
  second.id = id_of(2);
  second.dram_chan = 1;
  EXPECT_EQ(table.index_of(second), 0);
  EXPECT_EQ(table.index_of(first), 1);
  EXPECT_EQ(table.index_of(second), 0);
  EXPECT_EQ(epoch.problems(), "");
  Buffer wrong = first;
  wrong.id = id_of(3);
  wrong.dram_chan = 99;
  table.index_of(wrong);
  EXPECT_THAT(epoch.problems(), HasSubstr("DRAM channel 99"));
  const auto buffers = std::move(table).take();
  ASSERT_EQ(buffers.size(), 3u);
  EXPECT_EQ(buffers[0].channel, 1);
  EXPECT_EQ(buffers[0].entry_tiles, 4);
}

TEST(TransferSizes, TheLargestDivisorUpToALimit) {
  EXPECT_EQ(divisor_up_to(12, 5), 4);
  EXPECT_EQ(divisor_up_to(12, 100), 12);
  EXPECT_EQ(divisor_up_to(13, 12), 1);
  EXPECT_EQ(divisor_up_to(36, 6), 6);
  EXPECT_EQ(divisor_up_to(7, 0), 1);
}

}  // namespace
}  // namespace buda::overlay
