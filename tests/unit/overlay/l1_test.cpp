// SPDX-License-Identifier: Apache-2.0
// From streams and phases to addresses in L1, and the blob that has all of it.
#include <buda/overlay/emit/emitter.hpp>
#include <buda/overlay/emit/limits.hpp>
#include <buda/overlay/l1/allocator.hpp>
#include <buda/overlay/l1/l1_map.hpp>
#include <buda/overlay/phases/scheduler.hpp>
#include <buda/overlay/plan/planner.hpp>
#include <buda/overlay/streams/allocator.hpp>

#include "unit/overlay/hand_made.hpp"

#include <gmock/gmock.h>

namespace buda::overlay {
namespace {

using testing::HasSubstr;

// An op whose output, of eight tiles, goes over a relay of sixteen to another op.
pipes::PipeGraph relayed() {
  pipes::PipeGraph g;
  g.buffers = {made_buffer(1, BufferType::packer, {0, 0}), made_buffer(2, BufferType::relay, {0, 0}),
               made_buffer(3, BufferType::unpacker, {0, 1})};
  g.buffers[1].operand = pipes::kRelayOperand;
  g.buffers[1].size_tiles = 16;
  g.pipes = {made_pipe(11, {id_of(1)}, {{id_of(2)}}), made_pipe(12, {id_of(2)}, {{id_of(3)}})};
  return g;
}

// All steps up to the layout; the device keeps so many bytes for operands.
struct LaidOut {
  explicit LaidOut(std::uint64_t operand_bytes) : graph(relayed()), device(pipes::shipped("wormhole_b0")), epoch(graph, device, {}) {
    device.l1.size -= device.l1.operand_bytes() - operand_bytes;
    const EpochInput in = epoch.input();
    cores = collect_cores(in, epoch.violations);
    plans = plan_pipes(in, epoch.violations);
    streams = allocate_streams(in, cores, plans, no_shared_reads(plans), epoch.violations);
    phases = schedule_phases(in, cores, plans, streams, epoch.violations);
    layout = allocate_l1(in, cores, plans, streams, phases, epoch.violations);
    problems = epoch.problems();
  }
  const StreamBuffer& output() const { return layout.streams.at(streams.pipes[0].senders.front()); }
  const StreamBuffer& relay() const { return layout.streams.at(streams.pipes[0].targets.front().chain.front()); }

  pipes::PipeGraph graph;
  device::DeviceDescriptor device;
  HandMade epoch;
  CoreMap cores;
  PipePlans plans;
  StreamAllocation streams{PerStream<Stream>(0), {}, {}, {}};
  PhaseSchedule phases{0};
  L1Layout layout{PerStream<StreamBuffer>(0), {}};
  std::string problems;
};

constexpr std::uint64_t aligned(std::uint64_t tiles) { return (tiles * 2080 + 31) / 32 * 32; }

TEST(L1Allocator, OperandsComeFirstFromTheEnd) {
  const LaidOut l(aligned(8) + aligned(16));
  ASSERT_EQ(l.problems, "");
  EXPECT_EQ(l.output().address, l.device.l1.operands_end() - aligned(8));
  EXPECT_EQ(l.relay().address, l.output().address - aligned(16));
  EXPECT_EQ(l.relay().bytes, 16u * 2080);
  ASSERT_EQ(l.layout.cores.front().headers.size(), 1u);
  EXPECT_EQ(l.layout.cores.front().headers.front().address, l.device.l1.tile_headers);
  EXPECT_EQ(l.layout.cores.front().program_bytes, static_cast<std::int64_t>(l.device.l1.overlay_blob_default));
}

TEST(L1Allocator, TransportBuffersAreReducedWhereL1IsShort) {
  const LaidOut l(aligned(8) + aligned(9));
  ASSERT_EQ(l.problems, "");
  EXPECT_EQ(l.output().bytes, 8u * 2080);
  EXPECT_EQ(l.relay().bytes, 9u * 2080);
}

TEST(L1Allocator, WhatCannotBeReducedHasToFit) {
  const LaidOut fits(aligned(8) + aligned(1));
  EXPECT_EQ(fits.problems, "");
  const LaidOut l(aligned(8));
  EXPECT_THAT(l.problems, HasSubstr("OV015"));
  EXPECT_THAT(l.problems, HasSubstr("18720"));  // nine tiles are needed
}

TEST(Emitter, PutsTheStepsTogether) {
  LaidOut l(aligned(8) + aligned(9));
  ASSERT_EQ(l.problems, "");
  const StreamRef relay = l.streams.pipes[0].targets.front().chain.front();
  const StreamBuffer buffer = l.relay();
  const StreamPhases phases = l.phases.at(relay);
  const Blob blob = emit_blob(l.epoch.input(), l.cores, std::move(l.streams), std::move(l.phases), std::move(l.layout));
  EXPECT_EQ(blob.device, l.device.name);
  ASSERT_EQ(blob.cores.size(), 2u);
  const Stream* s = blob.find(relay);
  ASSERT_NE(s, nullptr);
  EXPECT_EQ(s->kind, StreamKind::relay);
  EXPECT_EQ(s->address, buffer.address);
  EXPECT_EQ(s->bytes, buffer.bytes);
  EXPECT_EQ(s->phases, phases.phases);
  EXPECT_EQ(s->messages(), 24);

  Violations violations(false);
  check_limits(blob, l.device, {}, violations);
  EXPECT_TRUE(violations.empty());
  device::DeviceDescriptor small = l.device;
  small.streams.per_core = 1;
  check_limits(blob, small, {}, violations);
  EXPECT_THAT(pipes::messages(std::move(violations).take()), HasSubstr("OV012"));
}

}  // namespace
}  // namespace buda::overlay
