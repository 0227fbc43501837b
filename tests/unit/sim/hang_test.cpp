// SPDX-License-Identifier: Apache-2.0
// Wrong stream programs: each is a wrong tile, a hang with its reason, or tiles left over.
#include <buda/diag/sink.hpp>
#include <buda/io/memory_file_system.hpp>
#include <buda/sim/epoch/hint.hpp>

#include "unit/sim/run_of.hpp"

#include <stdexcept>

namespace buda::sim {
namespace {

overlay::Stream& stream_of(overlay::Blob& blob, const std::string& op, overlay::StreamKind kind) {
  for (overlay::Core& core : blob.cores)
    for (overlay::Stream& s : core.streams)
      if (core.op == op && s.kind == kind) return s;
  throw std::logic_error("no such stream");
}

TEST(Hang, AReaderOfTheWrongTilesIsFound) {
  RunOf r(two_ops(4));
  ASSERT_EQ(r.problem, "");
  auto& input = stream_of(r.blob, "a", overlay::StreamKind::input);
  ASSERT_FALSE(input.read->blocks.empty());
  // The tiles of an entry the other way round, in blocks of one.
  input.read->block_tiles = 1;
  input.read->blocks = {{{0, 3}, {0, -1}, 4}};
  const std::string outcome = r.outcome();
  EXPECT_NE(outcome.find("SM002"), std::string::npos) << outcome;
  EXPECT_NE(outcome.find("input 0 of 'a' [0, 0]: tile 3 of queue 'x' comes where tile 0 of queue 'x' belongs: tile 0 of input 0"),
            std::string::npos)
      << outcome;
}

TEST(Hang, AWriterThatStopsEarlyIsAHang) {
  RunOf r(two_ops(4));
  ASSERT_EQ(r.problem, "");
  auto& output = stream_of(r.blob, "a", overlay::StreamKind::output);
  ASSERT_EQ(output.phase_count(), 1);
  output.phases[0].first[1] -= 4;
  const std::string outcome = r.outcome();
  EXPECT_NE(outcome.find("deadlocked: epoch 'g' stopped at cycle"), std::string::npos) << outcome;
  EXPECT_NE(outcome.find("'b' [1, 0] waits for input 0: 0 of 1 tiles"), std::string::npos) << outcome;
}

TEST(Hang, PhasesThatDoNotMeetAreNamed) {
  RunOf r(two_ops(4));
  ASSERT_EQ(r.problem, "");
  stream_of(r.blob, "b", overlay::StreamKind::input).phases[0].first[0] = 7;
  const std::string outcome = r.outcome();
  EXPECT_NE(outcome.find("the output of 'a' [0, 0], phase 0, waits for input 0 of 'b' [1, 0], which is in phase 7"), std::string::npos)
      << outcome;
}

TEST(Hang, TilesThatNobodyTakesAreLeftOver) {
  RunOf r(two_ops(4));
  ASSERT_EQ(r.problem, "");
  auto& input = stream_of(r.blob, "a", overlay::StreamKind::input);
  input.phases[0].first[1] += 1;
  const std::string outcome = r.outcome();
  EXPECT_NE(outcome.find("SM004"), std::string::npos) << outcome;
}

// A fork whose branches meet again: one needs all four ts before it gives anything, the other has room for `room` tiles.
std::string fork_and_join(int room) {
  using pipes::op_text, pipes::queue_text;
  const std::string shape = "t: 4, mblock: [2, 2], ublock: [2, 2]", block = shape + ", ublock_order: r, buf_size_mb: 1";
  return pipes::netlist_text(
      queue_text("x", "HOST", "grid_size: [1, 1], " + shape, 1, 0x20000000) +
          queue_text("y", "join", "grid_size: [1, 1], " + shape, 1, 0x30000000),
      op_text("fork", "nop", "x", 1, "grid_loc: [0, 0], grid_size: [1, 1]", block) +
          op_text("sum", "reduce", "fork", 1, "grid_loc: [1, 0], grid_size: [1, 1]",
                  "t: 1, mblock: [2, 2], ublock: [2, 2], ublock_order: r, buf_size_mb: 1", "attributes: {dim: z, type: max, z: 4}") +
          op_text("join", "add", "fork, sum", 2, "grid_loc: [2, 0], grid_size: [1, 1]", block,
                  cat("input_1_tms: [broadcast: {z: 4}], input_buf_min_size_tiles: [", room, ", 0]")),
      2);
}

TEST(Hang, ForkAndJoinNeedRoom) {
  RunOf small(fork_and_join(0)), large(fork_and_join(64));
  ASSERT_EQ(small.problem, "");
  ASSERT_EQ(large.problem, "");
  EXPECT_EQ(large.outcome(), "ended");
  const std::string outcome = small.outcome();
  EXPECT_NE(outcome.find("deadlocked"), std::string::npos) << outcome;
  for (const char* op : {"'fork'", "'sum'", "'join'"}) EXPECT_NE(outcome.find(op), std::string::npos) << op << '\n' << outcome;
}

// What the hint asks for is what the netlist needs, and one tile less is not enough.
TEST(Hang, HintsHelp) {
  RunOf r(fork_and_join(0));
  ASSERT_EQ(r.problem, "");
  auto run = r.start();
  ASSERT_TRUE(run.ok());
  auto state = run->advance(kForever);
  ASSERT_TRUE(state.ok() && *state == RunState::deadlocked);
  const EpochSetup setup{
      *r.built.index, *r.built.device, r.built.epochs.front(), r.built.padding, std::make_shared<const overlay::Blob>(r.blob), r.cores};
  const std::string hint = hint_for(setup, {}, *run);
  const std::string start = "op 'join': input_buf_min_size_tiles: [";
  ASSERT_TRUE(hint.starts_with(start) && hint.ends_with(", 0]")) << hint;
  const int tiles = std::stoi(hint.substr(start.size()));
  EXPECT_EQ(RunOf(fork_and_join(tiles)).outcome(), "ended");
}

// Where the netlist with the hint would not be legal, or would not run, there is none.
TEST(Hang, HintsThatATrialRefusesAreNotGiven) {
  RunOf r(fork_and_join(0));
  ASSERT_EQ(r.problem, "");
  auto run = r.start();
  ASSERT_TRUE(run.ok());
  auto state = run->advance(kForever);
  ASSERT_TRUE(state.ok() && *state == RunState::deadlocked);
  const EpochSetup setup{
      *r.built.index, *r.built.device, r.built.epochs.front(), r.built.padding, std::make_shared<const overlay::Blob>(r.blob), r.cores};
  std::int64_t tried = 0;
  auto refuse = [&](const EpochRun::FullInput& input, std::int64_t tiles) {
    EXPECT_GT(tiles, input.tiles);
    ++tried;
    return false;
  };
  EXPECT_EQ(hint_for(setup, {}, *run, refuse), "");
  EXPECT_GT(tried, 0);
  io::MemoryFileSystem fs;
  CollectingSink sink;
  Host host(fs, sink);
  const StoppedEpoch of{*r.built.netlist, *r.built.device, 0, r.cores};
  EXPECT_TRUE(runs_with(of, host, {}, {"join", 0, 0}, 64));
  EXPECT_FALSE(runs_with(of, host, {}, {"join", 0, 0}, 4)) << "the deadlock stays";
  EXPECT_FALSE(runs_with(of, host, {}, {"join", 0, 0}, 4000)) << "more than L1";
}

TEST(Hang, CyclesAreTheShortest) {
  RunOf r(fork_and_join(0));
  ASSERT_EQ(r.problem, "");
  auto run = r.start();
  ASSERT_TRUE(run.ok());
  auto state = run->advance(kForever);
  ASSERT_TRUE(state.ok() && *state == RunState::deadlocked);
  EXPECT_GE(run->why().notes.size(), 2u);
  EXPECT_LE(run->why().notes.size(), 6u);
}

}  // namespace
}  // namespace buda::sim
