// SPDX-License-Identifier: Apache-2.0
// Who reads a queue's buffers: pipes with reads of their own, and those that share another's.
#include "unit/pipes/built.hpp"

namespace buda::pipes {
namespace {

// Three ops read `x`; `b` shares the reads of `a`, if `shared`.
std::string three_readers(bool shared) {
  const std::string shape = "t: 1, mblock: [2, 2], ublock: [1, 1]", block = shape + ", ublock_order: r, buf_size_mb: 2";
  std::string queues = queue_text("x", "HOST", "grid_size: [1, 2], t: 1, mblock: [2, 1], ublock: [1, 1]", 2, 0x20000000), ops;
  int row = 0;
  for (const char* name : {"a", "b", "c"}) {
    bool shares = shared && std::string(name) == "b";
    ops +=
        op_text(name, "nop", "x", 1, cat("grid_loc: [", row, ", 0], grid_size: [1, 1]"), block, shares ? "forked_dram_inputs: [x: a]" : "");
    queues += queue_text(cat("out_", name), name, "grid_size: [1, 1], " + shape, 1, 0x40000000u + 0x1000000u * static_cast<unsigned>(row));
    ++row;
  }
  return netlist_text(queues, ops, 2);
}

const Pipe& pipe_to(const Built& b, std::int32_t row) {
  return *b.feeding(b.input(row == 0 ? "a" : row == 1 ? "b" : "c", {row, 0}, 0)).front();
}

TEST(Readers, EachForItself) {
  Built b(three_readers(false));
  ASSERT_TRUE(b.ok()) << b.problem;
  EXPECT_EQ(b.check(), "");
  for (std::int32_t row : {0, 1, 2}) {
    EXPECT_EQ(pipe_to(b, row).dram_total_readers.front(), 3);
    EXPECT_EQ(pipe_to(b, row).dram_reader_index.front(), row);
    EXPECT_EQ(pipe_to(b, row).dram_num_forks, 1);
  }
}

TEST(Readers, SharedReadsAreOneReader) {
  Built b(three_readers(true));
  ASSERT_TRUE(b.ok()) << b.problem;
  EXPECT_EQ(b.check(), "");
  std::int32_t index[] = {0, 0, 1}, forks[] = {2, 2, 1}, fork[] = {0, 1, 0};
  for (std::int32_t row : {0, 1, 2}) {
    const Pipe& p = pipe_to(b, row);
    EXPECT_EQ(p.dram_total_readers.front(), 2);
    EXPECT_EQ(p.dram_reader_index.front(), index[row]);
    EXPECT_EQ(p.dram_num_forks, forks[row]);
    EXPECT_EQ(p.dram_fork_index, fork[row]);
  }
}

TEST(Readers, SharingThatNobodyAskedForIsCaught) {
  Built b(three_readers(false));
  ASSERT_TRUE(b.ok()) << b.problem;
  PipeGraph graph = b.graph;
  for (Pipe& p : graph.pipes) {
    if (!p.reads_dram()) continue;
    bool last = p.dram_reader_index.front() == 2;
    for (auto& n : p.dram_total_readers) n = 2;
    if (last) {
      for (auto& i : p.dram_reader_index) i = 1;
      continue;
    }
    p.dram_fork_index = p.dram_reader_index.front();
    p.dram_num_forks = 2;
    for (auto& i : p.dram_reader_index) i = 0;
  }
  EXPECT_NE(b.check(graph).find("for which its op does not ask [PC022]"), std::string::npos) << b.check(graph);
}

TEST(Readers, SharingOfOtherBlocksIsCaught) {
  Built b(three_readers(true));
  ASSERT_TRUE(b.ok()) << b.problem;
  PipeGraph graph = b.graph;
  for (Pipe& p : graph.pipes)
    if (p.dram_fork_index == 1) std::swap(p.inputs.front(), p.inputs.back());
  EXPECT_NE(b.check(graph).find("PC022"), std::string::npos);
}

// Ops without an output, and ops that stand in for a relay, are fed like any other.
TEST(Readers, DrainersAndBuffers) {
  const std::string shape = "t: 1, mblock: [1, 4], ublock: [2, 1]", block = shape + ", ublock_order: r, buf_size_mb: 2";
  Built b(netlist_text(queue_text("x", "HOST", "grid_size: [1, 2], t: 1, mblock: [2, 1], ublock: [1, 2]", 2, 0x20000000) +
                           queue_text("out", "relay", "grid_size: [1, 1], " + shape, 1, 0x40000000),
                       op_text("relay", "buffer", "x", 1, "grid_loc: [0, 0], grid_size: [1, 1]", block) +
                           op_text("end", "drainer", "relay", 1, "grid_loc: [1, 0], grid_size: [1, 1]", block),
                       2));
  ASSERT_TRUE(b.ok()) << b.problem;
  EXPECT_EQ(b.check(), "");
  EXPECT_EQ(b.buffer("end", BufferType::packer), nullptr);
  ASSERT_EQ(b.feeding(b.input("end", {1, 0}, 0)).size(), 1u);
}

}  // namespace
}  // namespace buda::pipes
