// SPDX-License-Identifier: Apache-2.0
// Which streams, phases and addresses become of an edge.
#include <buda/overlay/build.hpp>

#include "unit/overlay/promised.hpp"
#include "unit/pipes/built.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>

namespace buda::overlay {
namespace {

using pipes::Built;
using pipes::netlist_text;
using pipes::op_text;
using pipes::queue_text;
using testing::HasSubstr;

const std::string kTile = "t: 1, mblock: [1, 1], ublock: [1, 1], ublock_order: r";

Blob blob_of(const Built& b) {
  EXPECT_TRUE(b.ok()) << b.problem;
  auto blob = build_blob(b.graph, *b.device);
  EXPECT_TRUE(blob.ok()) << pipes::messages(blob.failure());
  return blob.ok() ? *blob : Blob{};
}

const Core* core_of(const Blob& blob, const std::string& op) {
  for (const Core& c : blob.cores)
    if (c.op == op) return &c;
  return nullptr;
}

std::vector<const Stream*> streams_of(const Core& core, StreamKind kind) {
  std::vector<const Stream*> out;
  for (const Stream& s : core.streams)
    if (s.kind == kind) out.push_back(&s);
  return out;
}

// One op from a queue, `input_count` inputs, to a queue.
std::string copy_text(const std::string& shape, int input_count, const std::string& more = "buf_size_mb: 2") {
  return netlist_text(queue_text("x", "HOST", "grid_size: [1, 1], " + shape, 1, 0x10000000) +
                          queue_text("y", "a", "grid_size: [1, 1], " + shape, 1, 0x20000000),
                      op_text("a", "nop", "x", 1, "grid_loc: [0, 0], grid_size: [1, 1]", shape, more), input_count);
}

TEST(Build, AnOutputThatTwoTakeForks) {
  Built b(netlist_text(queue_text("x", "HOST", "grid_size: [1, 1], " + kTile, 1, 0x10000000) +
                           queue_text("y", "b", "grid_size: [1, 1], " + kTile, 1, 0x20000000) +
                           queue_text("z", "c", "grid_size: [1, 1], " + kTile, 1, 0x30000000),
                       op_text("a", "nop", "x", 1, "grid_loc: [0, 0], grid_size: [1, 1]", kTile, "buf_size_mb: 2") +
                           op_text("b", "nop", "a", 1, "grid_loc: [0, 1], grid_size: [1, 1]", kTile, "buf_size_mb: 2") +
                           op_text("c", "nop", "a", 1, "grid_loc: [0, 2], grid_size: [1, 1]", kTile, "buf_size_mb: 2"),
                       4));
  Blob blob = blob_of(b);
  const Core* a = core_of(blob, "a");
  ASSERT_NE(a, nullptr);
  auto outputs = streams_of(*a, StreamKind::output), forks = streams_of(*a, StreamKind::fork);
  ASSERT_EQ(outputs.size(), 1u);
  ASSERT_EQ(forks.size(), 1u);
  EXPECT_EQ(outputs[0]->number, 24);
  EXPECT_EQ(forks[0]->number, 40);
  EXPECT_EQ(forks[0]->fork_of, 24);
  EXPECT_EQ(forks[0]->address, outputs[0]->address);
  // Four inputs of one tile make one phase.
  EXPECT_EQ(outputs[0]->phase_count(), 1);
  EXPECT_EQ(outputs[0]->messages(), 4);
}

// One takes the output as it comes, the other column by column: the kernel hands out blocks to both.
TEST(Build, AnOutputIsCutForAllOrForNone) {
  const std::string shape = "t: 1, mblock: [2, 2], ublock: [1, 1], ublock_order: ";
  Built b(netlist_text(queue_text("x", "HOST", "grid_size: [1, 1], " + shape + "r", 1, 0x10000000) +
                           queue_text("y", "b", "grid_size: [1, 1], " + shape + "r", 1, 0x20000000) +
                           queue_text("z", "c", "grid_size: [1, 1], " + shape + "c", 1, 0x30000000),
                       op_text("a", "nop", "x", 1, "grid_loc: [0, 0], grid_size: [1, 1]", shape + "r", "buf_size_mb: 2") +
                           op_text("b", "nop", "a", 1, "grid_loc: [0, 1], grid_size: [1, 1]", shape + "r", "buf_size_mb: 2") +
                           op_text("c", "nop", "a", 1, "grid_loc: [0, 2], grid_size: [1, 1]", shape + "c", "buf_size_mb: 2"),
                       4));
  Blob blob = blob_of(b);
  const Core* a = core_of(blob, "a");
  ASSERT_NE(a, nullptr);
  auto outputs = streams_of(*a, StreamKind::output), forks = streams_of(*a, StreamKind::fork);
  ASSERT_EQ(outputs.size(), 1u);
  ASSERT_EQ(forks.size(), 1u);
  EXPECT_TRUE(outputs[0]->scattered);
  EXPECT_TRUE(forks[0]->scattered);
  EXPECT_EQ(outputs[0]->window_tiles, 4);
  EXPECT_EQ(forks[0]->window_tiles, 4);
  EXPECT_EQ(outputs[0]->messages(), 16);
  EXPECT_EQ(forks[0]->messages(), 16);
}

TEST(Build, APhaseHasAtMost2048Tiles) {
  // 96 tiles per input, 100 inputs: 20 inputs make 1920 tiles.
  Blob blob = blob_of(Built(copy_text("t: 1, mblock: [4, 6], ublock: [2, 2], ublock_order: r", 100)));
  for (const Core& c : blob.cores)
    for (const Stream& s : c.streams) {
      EXPECT_EQ(s.messages(), 9600);
      EXPECT_EQ(s.iterations, 5);
      for_each(s.phases, [](const PhaseRun::Tuple& t) { EXPECT_EQ(to_phase(t).messages, 1920); });
    }
}

TEST(Build, AMulticastGoesThroughTheEndOfTheRow) {
  std::string left = "t: 1, mblock: [1, 1], ublock: [2, 2], ublock_order: r";
  Built b(netlist_text(
      queue_text("x", "HOST", "grid_size: [1, 1], t: 1, mblock: [1, 1], ublock: [2, 2], ublock_order: r", 1, 0x10000000) +
          queue_text("w", "HOST", "grid_size: [1, 1], t: 1, mblock: [1, 3], ublock: [2, 2], ublock_order: r", 1, 0x11000000) +
          queue_text("y", "m", "grid_size: [1, 3], " + left, 3, 0x20000000),
      op_text("m", "matmul", "x, w", 2, "grid_loc: [2, 1], grid_size: [1, 3]", left, "buf_size_mb: 2, attributes: {m_k: 1, u_kt: 2}"), 2));
  Blob blob = blob_of(b);
  ASSERT_EQ(blob.cores.size(), 3u);
  auto relays = streams_of(blob.cores[0], StreamKind::multicast);
  ASSERT_EQ(relays.size(), 1u);
  EXPECT_EQ(relays[0]->number, 0);
  EXPECT_EQ(relays[0]->destinations, (std::vector<Destination>{{{0, 4}, 2}}));
  EXPECT_TRUE(relays[0]->read.has_value());
  for (std::int32_t c = 0; c < 3; ++c) {
    const Stream* in = blob.find({c, 4});
    ASSERT_NE(in, nullptr);
    EXPECT_EQ(in->sources, (std::vector<StreamRef>{{0, 0}}));
    EXPECT_EQ(in->address, blob.find({0, 4})->address);
    EXPECT_EQ(in->messages(), 8);
  }
  EXPECT_EQ(difference(promised(b.graph), replay(blob)), "");
}

// Everything that lies in L1 lies apart, inside the operands, but for what is meant to share.
TEST(Build, BuffersLieApart) {
  Built b(netlist_text(queue_text("x", "HOST", "grid_size: [1, 1], " + kTile, 1, 0x10000000) +
                           queue_text("y", "a", "grid_size: [1, 1], " + kTile, 1, 0x20000000),
                       op_text("a", "nop", "x", 1, "grid_loc: [0, 0], grid_size: [1, 1]", kTile, "buf_size_mb: 4"), 4));
  Blob blob = blob_of(b);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> places;
  for (const Stream& s : blob.cores[0].streams) places.emplace_back(s.address, s.address + s.bytes);
  std::sort(places.begin(), places.end());
  for (std::size_t i = 1; i < places.size(); ++i) EXPECT_LE(places[i - 1].second, places[i].first);
  EXPECT_GE(places.front().first, b.device->l1.operands_begin);
  EXPECT_EQ(places.back().second, b.device->l1.operands_end());
}

TEST(Build, ALimitIsNamedWithWhatIsNeeded) {
  Built b(copy_text("t: 1, mblock: [4, 6], ublock: [2, 2], ublock_order: r", 4));
  ASSERT_TRUE(b.ok()) << b.problem;
  device::DeviceDescriptor small = *b.device;
  small.l1.size = small.l1.operands_begin + 100'000;
  auto blob = build_blob(b.graph, small);
  ASSERT_FALSE(blob.ok());
  const Diagnostic& d = blob.failure().diagnostics().front();
  EXPECT_EQ(d.code, "OV015");
  EXPECT_EQ(d.fault, Fault::fit);
  EXPECT_EQ(d.node, "a");
  EXPECT_THAT(d.message, HasSubstr("core [0, 0]"));
  EXPECT_THAT(d.message, HasSubstr("99936 (97.6 KiB) available"));
  EXPECT_EQ(d.notes.size(), 2u);  // the input and the output
  EXPECT_FALSE(d.hint.empty());
}

// A replay that finds nothing wrong would be worthless if it found nothing wrong with this.
TEST(Replay, FindsWhatIsWrong) {
  Built b(netlist_text(queue_text("x", "HOST", "grid_size: [1, 1], t: 1, mblock: [2, 2], ublock: [1, 1], ublock_order: r", 1, 0x10000000) +
                           queue_text("y", "b", "grid_size: [1, 1], t: 1, mblock: [2, 2], ublock: [1, 1], ublock_order: c", 1, 0x20000000),
                       op_text("a", "nop", "x", 1, "grid_loc: [0, 0], grid_size: [1, 1]",
                               "t: 1, mblock: [2, 2], ublock: [1, 1], ublock_order: r", "buf_size_mb: 2") +
                           op_text("b", "nop", "a", 1, "grid_loc: [0, 1], grid_size: [1, 1]",
                                   "t: 1, mblock: [2, 2], ublock: [1, 1], ublock_order: c", "buf_size_mb: 2"),
                       4));
  Blob good = blob_of(b);
  Promised wanted = promised(b.graph);
  ASSERT_EQ(difference(wanted, replay(good)), "");
  Stream* sender = nullptr;
  for (Core& c : good.cores)
    for (Stream& s : c.streams)
      if (c.op == "a" && s.kind == StreamKind::output) sender = &s;
  ASSERT_NE(sender, nullptr);
  ASSERT_TRUE(sender->scattered);
  const std::vector<PhaseRun> phases = sender->phases;

  sender->phases.front().first[4] += 1;  // another tile
  EXPECT_THAT(difference(wanted, replay(good)), HasSubstr("comes, not"));
  sender->phases = phases;
  sender->phases.front().first[0] += 1;  // ids that do not meet
  EXPECT_THAT(difference(wanted, replay(good)), HasSubstr("waits"));
  sender->phases = phases;
  sender->phases.pop_back();  // too little
  EXPECT_NE(difference(wanted, replay(good)), "");
  sender->phases = phases;
  sender->iterations += 1;  // too much
  EXPECT_NE(difference(wanted, replay(good)), "");
}

// A pipe from a queue to an input, whose entries have so many tiles.
pipes::PipeGraph long_entries(std::int64_t tiles) {
  pipes::PipeGraph g;
  for (pipes::BufferType type : {pipes::BufferType::dram_io, pipes::BufferType::unpacker}) {
    pipes::Buffer& b = g.buffers.emplace_back();
    b.type = type;
    b.op = type == pipes::BufferType::unpacker ? "a" : "q";
    b.id = pipes::kFirstId + g.buffers.size() * pipes::kIdStep;
    b.epoch_tiles = b.tiles_per_input = tiles;
    b.size_tiles = 16;
    b.scatter_gather_num_tiles = type == pipes::BufferType::unpacker ? 1 : tiles;
    b.tile_size = 2080;
    b.tile_clear_granularity = b.q_slots = 1;
    if (type == pipes::BufferType::unpacker) b.core = {0, 0};
  }
  pipes::Pipe& p = g.pipes.emplace_back();
  p.id = pipes::kFirstId;
  p.inputs = {g.buffers[0].id};
  p.outputs = {{g.buffers[1].id}};
  p.mcast_core = {{}};
  p.dram_total_readers = {1};
  p.dram_reader_index = {0};
  return g;
}

TEST(Build, EntriesOfVeryManyTilesAreRefusedAtOnce) {
  auto device = pipes::shipped("n150");
  EXPECT_TRUE(build_blob(long_entries(1 << 12), device).ok());
  auto blob = build_blob(long_entries(std::int64_t{1} << 39), device);
  ASSERT_FALSE(blob.ok());
  EXPECT_EQ(blob.failure().diagnostics().front().code, "OV002");
}

TEST(Build, ListsThatAreRepeatedVeryOftenAreRefusedTogether) {
  pipes::PipeGraph g = long_entries(16);
  g.pipes.front().periodic_repeat = 1 << 20;
  for (int i = 0; i < 16; ++i) {
    g.pipes.push_back(pipes::Pipe(g.pipes.front()));
    ++g.pipes.back().id;
  }
  auto blob = build_blob(g, pipes::shipped("n150"));
  ASSERT_FALSE(blob.ok());
  EXPECT_THAT(pipes::messages(blob.failure()), HasSubstr("the lists of all pipes"));
}

}  // namespace
}  // namespace buda::overlay
