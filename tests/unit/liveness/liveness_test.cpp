// SPDX-License-Identifier: Apache-2.0
// Proofs and refusals of single epochs.
#include <buda/liveness/liveness.hpp>
#include <buda/liveness/network.hpp>

#include "unit/liveness/judge.hpp"
#include "unit/liveness/mutants.hpp"
#include "unit/sim/run_of.hpp"

namespace buda::liveness {
namespace {

using pipes::op_text, pipes::queue_text;

EpochLiveness only_epoch(const std::string& text, const std::string& device = "wormhole_b0") {
  const pipes::Built built(text, device);
  EXPECT_EQ(built.problem, "");
  auto epochs = check_liveness(*built.netlist, *built.device, device::source_host());
  EXPECT_TRUE(epochs.ok()) << (epochs.ok() ? "" : pipes::messages(epochs.failure()));
  return epochs ? epochs->front() : EpochLiveness{};
}

TEST(Liveness, AStateThatComesBackProvesAnyNumberOfInputs) {
  const EpochLiveness epoch = only_epoch(sim::two_ops(100));
  EXPECT_FALSE(epoch.deadlock);
  EXPECT_EQ(epoch.inputs, 100);
  EXPECT_LT(epoch.ran, 10);
  EXPECT_GT(epoch.equals, 0);
  EXPECT_EQ(epoch.kernels, 2u);
  EXPECT_TRUE(epoch.fork_joins.empty());
  EXPECT_TRUE(epoch.given_first.empty());
}

TEST(Liveness, AnEpochOfOneInputRunsToItsEnd) {
  const EpochLiveness epoch = only_epoch(sim::two_ops(1));
  EXPECT_FALSE(epoch.deadlock);
  EXPECT_EQ(epoch.ran, 1);
  EXPECT_EQ(epoch.equals, 0);
}

// The outputs of two columns of cores are gathered by the multicast of each row, whose phases have as many tiles as fit.
TEST(Liveness, PhasesOfMulticastsDoNotKeepAStateFromComingBack) {
  const std::string shape = "t: 1, mblock: [1, 1], ublock: [1, 3]";
  const EpochLiveness epoch = only_epoch(pipes::netlist_text(
      queue_text("x", "HOST", "grid_size: [1, 1], " + shape, 1, 0x20000000) +
          queue_text("w", "HOST", "grid_size: [1, 1], t: 1, mblock: [1, 2], ublock: [3, 1]", 1, 0x28000000) +
          queue_text("y", "mm", "grid_size: [1, 2], t: 1, mblock: [1, 1], ublock: [1, 1]", 2, 0x30000000),
      op_text("a", "nop", "x", 1, "grid_loc: [0, 0], grid_size: [1, 1]", shape + ", ublock_order: r, buf_size_mb: 2") +
          op_text("mm", "matmul", "a, w", 2, "grid_loc: [1, 0], grid_size: [1, 2]",
                  "t: 1, mblock: [1, 1], ublock: [1, 1], ublock_order: r, buf_size_mb: 2", "attributes: {m_k: 1, u_kt: 3}"),
      997));
  EXPECT_FALSE(epoch.deadlock);
  EXPECT_GT(epoch.equals, 0);
  EXPECT_LT(epoch.ran, 20);
}

TEST(Liveness, PathsThatMeetAgainAreNamed) {
  const EpochLiveness epoch = only_epoch(families().front().text({}));
  ASSERT_TRUE(epoch.deadlock);
  ASSERT_EQ(epoch.fork_joins.size(), 1u);
  EXPECT_EQ(epoch.fork_joins.front(), (ForkJoin{"fork", "join"}));
  EXPECT_EQ(epoch.deadlock->node, "join");
  EXPECT_NE(epoch.deadlock->message.find("join 'join' waits for tiles that fork 'fork' cannot give"), std::string::npos)
      << epoch.deadlock->message;
  EXPECT_GT(epoch.deadlock->loc.line, 0u);
}

constexpr const char* kPointers = "prologue: false, epilogue: false, zero: false, rd_ptr_local: 0, rd_ptr_global: 0";

// A queue between two ops of an epoch: without updates of its header while the epoch runs it has to hold all inputs.
std::string through_queue(int entries, int frees) {
  const std::string shape = "t: 1, mblock: [2, 2], ublock: [1, 1]", block = shape + ", ublock_order: r, buf_size_mb: 2";
  auto queue = [&](const char* name, const char* input, unsigned base, int count) {
    return queue_text(name, input, "grid_size: [1, 1], " + shape, 1, base, cat("type: queue, entries: ", count));
  };
  return pipes::netlist_text(queue("x", "HOST", 0x20000000, 8) + queue("q", "a", 0x28000000, entries) + queue("y", "b", 0x30000000, 8),
                             op_text("a", "nop", "x", 1, "grid_loc: [0, 0], grid_size: [1, 1]", block) +
                                 op_text("b", "nop", "q", 1, "grid_loc: [1, 0], grid_size: [1, 1]", block),
                             4, cat("x: {", kPointers, "}, q: {", kPointers, ", rd_ptr_autoinc: 1, global_rdptr_autoinc: ", frees, "}"));
}

TEST(Liveness, AQueueThatIsTooShortForTheInputs) {
  const EpochLiveness epoch = only_epoch(through_queue(2, 0));
  ASSERT_TRUE(epoch.deadlock);
  EXPECT_EQ(epoch.deadlock->hint, "queue 'q': entries: 4");
  EXPECT_FALSE(only_epoch(through_queue(4, 0)).deadlock);
  // The header tells the writer of every entry that is read.
  EXPECT_FALSE(only_epoch(through_queue(2, 1)).deadlock);
}

// What a later epoch reads is not read while this one runs.
TEST(Liveness, AQueueThatIsTooShortForALaterEpoch) {
  const std::string shape = "t: 1, mblock: [2, 2], ublock: [1, 1]", block = shape + ", ublock_order: r, buf_size_mb: 2";
  const std::string at = "grid_loc: [0, 0], grid_size: [1, 1]";
  auto queue = [&](const char* name, const char* input, unsigned base, int count) {
    return queue_text(name, input, "grid_size: [1, 1], " + shape, 1, base, cat("type: queue, entries: ", count));
  };
  auto text = [&](int entries) {
    return pipes::netlist_text(queue("x", "HOST", 0x20000000, 8) + queue("q", "a", 0x28000000, entries) + queue("y", "b", 0x30000000, 8),
                               op_text("a", "nop", "x", 1, at, block) + "  h:\n    target_device: 0\n    input_count: 4\n" +
                                   op_text("b", "nop", "q", 1, at, block),
                               4, cat("x: {", kPointers, "}"),
                               cat("    - execute: {graph_name: h, queue_settings: {q: {", kPointers, "}}}\n"));
  };
  EXPECT_FALSE(only_epoch(text(4)).deadlock);
  const EpochLiveness epoch = only_epoch(text(2));
  ASSERT_TRUE(epoch.deadlock);
  EXPECT_EQ(epoch.deadlock->code, "LV002");
  EXPECT_EQ(epoch.deadlock->message, "epoch 0 ('g') stops after 4 of 4 inputs: nothing in the epoch gives what it waits for");
  EXPECT_EQ(epoch.deadlock->hint, "queue 'q': entries: 4");
}

// The state of a training step: the host gives the first entry, and each input the one for the next.
TEST(Liveness, AQueueThatFollowsFromItself) {
  const std::string shape = "t: 1, mblock: [2, 2], ublock: [1, 1]", block = shape + ", ublock_order: r, buf_size_mb: 2";
  auto queue = [&](const char* name, const char* input, unsigned base, int entries) {
    return queue_text(name, input, "grid_size: [1, 1], " + shape, 1, base, cat("type: queue, entries: ", entries));
  };
  // Through more and more ops, the last of which writes the queue.
  for (int length = 1; length <= 5; ++length)
    for (const int entries : {2, 3, 7}) {
      std::string ops, last = "q";
      for (int i = 0; i < length; ++i) {
        const std::string name = cat("a", i);
        ops += op_text(name.c_str(), "nop", last.c_str(), 1, cat("grid_loc: [", i, ", 0], grid_size: [1, 1]").c_str(), block);
        last = name;
      }
      ops += op_text("b", "nop", last.c_str(), 1, "grid_loc: [0, 1], grid_size: [1, 1]", block);
      const std::string text = pipes::netlist_text(queue("q", last.c_str(), 0x28000000, entries) + queue("y", "b", 0x30000000, 8), ops, 4,
                                                   cat("q: {", kPointers, ", rd_ptr_autoinc: 1, global_rdptr_autoinc: 1}"));
      const EpochLiveness epoch = only_epoch(text);
      EXPECT_FALSE(epoch.deadlock) << length << " ops, " << entries << " entries";
      EXPECT_EQ(epoch.given_first, std::vector<std::string>{"q"});
    }
}

// The compiler's stream programs are those of the netlist; a program that calls this may have others.
TEST(Liveness, StreamProgramsOfAnotherNetlist) {
  const pipes::Built built(sim::two_ops(4));
  ASSERT_EQ(built.problem, "");
  auto compiler = overlay::EpochCompiler::make(*built.netlist, *built.device, "", device::source_host());
  ASSERT_TRUE(compiler.ok());
  const pipes::Epoch& epoch = compiler->epochs().front();
  auto pipes = compiler->pipes(epoch);
  ASSERT_TRUE(pipes.ok());
  auto blob = compiler->streams(*pipes);
  ASSERT_TRUE(blob.ok());
  EXPECT_TRUE(build_network({*compiler, epoch, *pipes, *blob}, {}, Relays::exact).ok());
  blob->cores.front().op = "nobody";
  auto refused = build_network({*compiler, epoch, *pipes, *blob}, {}, Relays::exact);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(pipes::messages(refused.failure()), "the stream program has cores of op 'nobody', which the netlist does not have [LV003]\n");
}

// `t` results are reduced to one on the one path, and wait for it on the other.
std::string reduced_beside(int t, int join_mblocks) {
  const auto shape = [](int parts) { return cat("t: ", parts, ", mblock: [2, 2], ublock: [1, 1]"); };
  const auto op = [&](const char* name, const char* type, const char* inputs, int count, int row, int parts, int mblocks,
                      std::string more) {
    return op_text(name, type, inputs, count, cat("grid_loc: [", row, ", 0], grid_size: [1, 1]"),
                   cat(shape(parts), ", ublock_order: r, buf_size_mb: ", mblocks), more);
  };
  return pipes::netlist_text(queue_text("x", "HOST", "grid_size: [1, 1], " + shape(t), 1, 0x20000000) +
                                 queue_text("y", "join", "grid_size: [1, 1], " + shape(t), 1, 0x30000000),
                             op("fork", "nop", "x", 1, 0, t, 2, "") +
                                 op("mid", "reduce", "fork", 1, 1, 1, 2, cat("attributes: {dim: z, type: max, z: ", t, "}")) +
                                 op("join", "add", "fork, mid", 2, 2, t, join_mblocks, cat("input_1_tms: [broadcast: {z: ", t, "}]")),
                             4, cat("x: {", kPointers, "}"));
}

// Twice as much as is needed does not fit, or breaks a rule.
TEST(Liveness, ABufferOfWhichTheDoubleDoesNotFit) {
  const EpochLiveness input = only_epoch(reduced_beside(140, 2));
  ASSERT_TRUE(input.deadlock);
  EXPECT_EQ(input.deadlock->hint, "op 'join': input_buf_min_size_tiles: [549, 0]");
  const EpochLiveness output = only_epoch(reduced_beside(64, 128));
  ASSERT_TRUE(output.deadlock);
  EXPECT_EQ(output.deadlock->hint, "op 'fork': buf_size_mb: 64");
}

}  // namespace
}  // namespace buda::liveness
