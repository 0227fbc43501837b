// SPDX-License-Identifier: Apache-2.0
// From streams to phases: numbering of passes, and phases that begin and continue.
#include <buda/overlay/phases/pass_numbering.hpp>
#include <buda/overlay/phases/phase_recorder.hpp>
#include <buda/overlay/phases/scheduler.hpp>
#include <buda/overlay/plan/planner.hpp>
#include <buda/overlay/streams/allocator.hpp>

#include "unit/overlay/hand_made.hpp"

#include <gmock/gmock.h>

namespace buda::overlay {
namespace {

using testing::ElementsAre;

std::vector<Phase> phases_of(const StreamPhases& s) {
  std::vector<Phase> out;
  for_each(s.phases, [&](const PhaseRun::Tuple& t) { out.push_back(to_phase(t)); });
  return out;
}

TEST(PassNumbering, PiecesEndWhereBlocksAndPartsEnd) {
  PipePlan plan;
  plan.blocks = {{0, 0, 4}, {1, 8, 4}};
  plan.pass_tiles = 8;
  plan.parts = {{0, 6, {0}}, {6, 2, {1}}};
  std::vector<std::array<std::int64_t, 4>> pieces;
  for (const Piece& p : pieces_of(plan)) pieces.push_back({p.source, p.offset, p.tiles, static_cast<std::int64_t>(p.part)});
  using P = std::array<std::int64_t, 4>;
  EXPECT_THAT(pieces, ElementsAre(P{0, 0, 4, 0}, P{1, 8, 2, 0}, P{1, 10, 2, 1}));
}

// Three receivers in round-robin order, and a buffer of two windows: six passes until both begin anew.
TEST(PassNumbering, ThePeriodIsThatOfRoundsAndWindows) {
  pipes::PipeGraph graph;
  graph.buffers = {made_buffer(1, BufferType::packer, {0, 0})};
  HandMade epoch(graph);
  PipePlan plan;
  plan.sources = {&graph.buffers.front()};
  plan.blocks = {{0, 0, 4}};
  plan.pass_tiles = 4;
  plan.parts = {{0, 4, {0, 1, 2}}};
  plan.passes = 12;
  PassNumbering numbering = number_passes(epoch.input(), {&plan});
  EXPECT_EQ(numbering.period, 6);
  EXPECT_EQ(numbering.segments, 1);
  EXPECT_EQ(numbering.ids_per_pass(), 1);
  plan.passes = 8;  // not a multiple
  EXPECT_EQ(number_passes(epoch.input(), {&plan}).period, 8);
  // Two rounds of padding after the first group have ids of their own.
  plan.passes = 12;
  plan.padding = {{1, 0, 0, 8, false}, {2, 0, 0, 8, false}};
  plan.parts = {{0, 4, {0}}};
  numbering = number_passes(epoch.input(), {&plan});
  EXPECT_EQ(numbering.slots, 3);
  EXPECT_EQ(numbering.segments, 2);
  EXPECT_EQ(numbering.id(1, 2), 10);
}

// A sender, and two receivers.
struct Connected {
  StreamRef from{0, 0}, one{1, 0}, other{2, 0};
  PerStream<Stream> streams{3};
  PhaseSchedule schedule{3};
  Connected() {
    streams[from].destinations = {{one, 1}, {other, 2}};
    streams[one].sources = streams[other].sources = {from};
    for (StreamRef r : {from, one, other}) schedule[r];
  }
};

TEST(PhaseRecorder, AReceiverContinuesUntilItsSenderSendsElsewhere) {
  Connected c;
  const StreamPath to_one = make_path(c.streams, {c.from}, {c.one}), to_other = make_path(c.streams, {c.from}, {c.other});
  EXPECT_THAT(to_other.destinations, ElementsAre(1));
  PhaseRecorder recorder(c.streams, 8, c.schedule);
  recorder.send(to_one, 0, 0, 2);
  recorder.send(to_one, 1, 4, 2);
  recorder.send(to_other, 2, 2, 2);
  recorder.send(to_one, 3, 6, 2);
  recorder.finish(5);
  EXPECT_THAT(phases_of(c.schedule.at(c.from)),
              ElementsAre(Phase{0, 2, 0, 0, 0}, Phase{1, 2, 0, 0, 4}, Phase{2, 2, 0, 1, 2}, Phase{3, 2, 0, 0, 6}));
  EXPECT_THAT(phases_of(c.schedule.at(c.one)), ElementsAre(Phase{0, 4, 0, 0, 0}, Phase{3, 2, 0, 0, 0}));
  EXPECT_THAT(phases_of(c.schedule.at(c.other)), ElementsAre(Phase{2, 2, 0, 0, 0}));
  EXPECT_EQ(c.schedule.at(c.one).iterations, 5);
}

TEST(PhaseRecorder, APhaseEndsAtTheLimitOfTiles) {
  Connected c;
  PhaseRecorder recorder(c.streams, 3, c.schedule);
  const StreamPath path = make_path(c.streams, {c.from}, {c.one});
  recorder.send(path, 0, 0, 2);
  recorder.send(path, 1, 2, 2);
  recorder.finish(1);
  EXPECT_THAT(phases_of(c.schedule.at(c.one)), ElementsAre(Phase{0, 2, 0, 0, 0}, Phase{1, 2, 0, 0, 0}));
}

// A whole buffer in order: as many passes as fit into the limit make one phase.
TEST(PhaseScheduler, ARingHasPhasesOfManyPasses) {
  pipes::PipeGraph graph;
  graph.buffers = {made_buffer(1, BufferType::packer, {0, 0}), made_buffer(2, BufferType::unpacker, {0, 1})};
  graph.pipes = {made_pipe(11, {id_of(1)}, {{id_of(2)}})};
  device::DeviceDescriptor device = pipes::shipped("wormhole_b0");
  device.streams.max_tiles_per_phase = 10;
  HandMade epoch(graph, device, {});
  const EpochInput in = epoch.input();
  const CoreMap cores = collect_cores(in, epoch.violations);
  const PipePlans plans = plan_pipes(in, epoch.violations);
  const StreamAllocation streams = allocate_streams(in, cores, plans, no_shared_reads(plans), epoch.violations);
  const PhaseSchedule schedule = schedule_phases(in, cores, plans, streams, epoch.violations);
  ASSERT_EQ(epoch.problems(), "");
  for (StreamRef r : {streams.pipes[0].senders.front(), streams.pipes[0].targets.front().receivers.front()}) {
    EXPECT_THAT(phases_of(schedule.at(r)), ElementsAre(Phase{0, 8, 0, 0, 0}));  // two passes of four tiles
    EXPECT_EQ(schedule.at(r).iterations, 3);                                    // of 24 tiles
  }
}

}  // namespace
}  // namespace buda::overlay
