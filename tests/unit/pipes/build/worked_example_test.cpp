// SPDX-License-Identifier: Apache-2.0
// Pipes of small netlists, against lists worked out by hand from the definitions.
#include <buda/pipes/graph/pipe_graph.hpp>

#include "unit/pipes/built.hpp"

#include <gmock/gmock.h>

#include <algorithm>

namespace buda::pipes {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// q0 and q1: 2x2 buffers of one ublock of 4x2 tiles; mm: 2x2 cores, ublocks of 4x4, K = 4 in two steps of 2.
std::string worked_example() {
  std::string shape = "grid_size: [2, 2], t: 1, mblock: [1, 1], ublock: [4, 2]";
  std::string out = "grid_size: [2, 2], t: 1, mblock: [1, 1], ublock: [4, 4]";
  // in1 is 4x8 tiles: K = 4 rows, of which each buffer row holds 2.
  std::string in1 = "grid_size: [2, 2], t: 1, mblock: [1, 1], ublock: [2, 4]";
  return netlist_text(queue_text("q0", "HOST", shape, 4, 0x20000000) + queue_text("q1", "HOST", in1, 4, 0x30000000) +
                          queue_text("out", "mm", out, 4, 0x40000000),
                      op_text("mm", "matmul", "q0, q1", 2, "grid_loc: [0, 0], grid_size: [2, 2]",
                              "t: 1, mblock: [1, 1], ublock: [4, 4], ublock_order: r, buf_size_mb: 2", "attributes: {m_k: 2, u_kt: 2}"),
                      4,
                      "q0: {prologue: false, epilogue: false, zero: false, rd_ptr_local: 0, rd_ptr_global: 0}, "
                      "q1: {prologue: false, epilogue: false, zero: false, rd_ptr_local: 0, rd_ptr_global: 0}");
}

TEST(WorkedExample, AnInnerDimensionOfZeroIsAnError) {
  std::string text = worked_example();
  text.replace(text.find("m_k: 2"), 6, "m_k: 0");
  text.replace(text.find("q0, q1"), 6, "q0, q0");
  Built b(text);
  ASSERT_FALSE(b.ok());
  EXPECT_EQ(b.diagnostics.front().code, "PP003") << b.problem;
  EXPECT_EQ(b.diagnostics.front().node, "mm");
}

TEST(WorkedExample, RowsTakeColumnBlocksFromBothBuffersOfTheirRow) {
  Built b(worked_example());
  ASSERT_TRUE(b.ok()) << b.problem;
  // Row 0 of the grid needs tile rows 0-3 and K 0-3. Its first K block (columns 0, 1) is all of q0's buffer (0,0), in order; the second is
  // buffer (0,1). One run of 8 tiles each, so blocks have 8 tiles.
  const Buffer* q0 = b.buffer("q0", BufferType::dram_io);
  ASSERT_NE(q0, nullptr);
  EXPECT_TRUE(q0->is_scatter);
  EXPECT_EQ(q0->scatter_gather_num_tiles, 8);
  EXPECT_EQ(q0->replicate, 1);
  for (int row = 0; row < 2; ++row) {
    const Buffer* left = b.input("mm", {row, 0}, 0);
    const Buffer* right = b.input("mm", {row, 1}, 0);
    ASSERT_NE(left, nullptr);
    ASSERT_NE(right, nullptr);
    auto pipes = b.feeding(left);
    ASSERT_EQ(pipes.size(), 1u);
    EXPECT_EQ(pipes.front()->outputs, (std::vector<std::vector<Id>>{{left->id, right->id}}));
    Id first = b.index->queue_buffer(0, static_cast<std::size_t>(2 * row));
    EXPECT_THAT(pipes.front()->inputs, ElementsAre(first, first + kIdStep));
    // A row multicast goes right on network 0 and begins at the left.
    EXPECT_EQ(pipes.front()->mcast_core, (std::vector<CoreCoord>{{0, {row, 0}}}));
    EXPECT_EQ(pipes.front()->outgoing_noc, 0);
  }
}

TEST(WorkedExample, ColumnsTakeRowBlocksFromBothBuffersOfTheirColumn) {
  Built b(worked_example());
  ASSERT_TRUE(b.ok()) << b.problem;
  for (int column = 0; column < 2; ++column) {
    const Buffer* top = b.input("mm", {0, column}, 1);
    const Buffer* bottom = b.input("mm", {1, column}, 1);
    auto pipes = b.feeding(top);
    ASSERT_EQ(pipes.size(), 1u);
    EXPECT_EQ(pipes.front()->outputs, (std::vector<std::vector<Id>>{{top->id, bottom->id}}));
    Id first = b.index->queue_buffer(1, static_cast<std::size_t>(column));
    EXPECT_THAT(pipes.front()->inputs, ElementsAre(first, first + 2 * kIdStep));
    // A column multicast goes up on network 1 and begins at the bottom.
    EXPECT_EQ(pipes.front()->mcast_core, (std::vector<CoreCoord>{{0, {1, column}}}));
    EXPECT_EQ(pipes.front()->outgoing_noc, 1);
  }
}

TEST(WorkedExample, OutputGoesCoreByCoreIntoTheQueue) {
  Built b(worked_example());
  ASSERT_TRUE(b.ok()) << b.problem;
  int found = 0;
  for (const Pipe& p : b.graph.pipes) {
    if (p.outputs.front().front() < b.index->queue_buffer(2, 0) || p.outputs.front().front() > b.index->queue_buffer(2, 3)) continue;
    ++found;
    EXPECT_EQ(p.inputs.size(), 1u);
    EXPECT_EQ(p.incoming_vc, 0);
  }
  EXPECT_EQ(found, 4);
  const Buffer* out = b.buffer("mm", BufferType::packer);
  EXPECT_FALSE(out->is_scatter);
  EXPECT_EQ(out->scatter_gather_num_tiles, 16);
  EXPECT_EQ(out->size_tiles, 32);
  EXPECT_EQ(out->epoch_tiles, 4 * 16);
  // m_k = 2: partial results are kept, in the output's memory since the formats are equal.
  const Buffer* intermediate = b.buffer("mm", BufferType::intermediate);
  ASSERT_NE(intermediate, nullptr);
  EXPECT_EQ(out->buffer_space_shared, intermediate->id);
  EXPECT_EQ(b.check(), "");
}

// Ids of a queue begin at 100000000000 and step by 1e9; an epoch's own follow.
TEST(WorkedExample, IdsAreCountedInTheOrderOfTheNetlist) {
  Built b(worked_example());
  ASSERT_TRUE(b.ok()) << b.problem;
  EXPECT_EQ(b.index->queue_buffer(0, 0), 100'000'000'000u);
  EXPECT_EQ(b.index->queue_buffer(1, 0), 104'000'000'000u);
  EXPECT_EQ(b.graph.buffers.front().id, 112'000'000'000u);
  EXPECT_EQ(Built(worked_example()).graph, b.graph);
}

// One queue buffer of 2x4 tiles, ublocks 2x2 in order r: indices 0 1 4 5 / 2 3 6 7. The consumer is transposed (4x2 tiles) with ublocks 1x1
// in order c, so it takes its columns, which are the producer's rows: 0 1 4 5 2 3 6 7 .
TEST(Reblocking, TransposeAndOrder) {
  Built b(
      netlist_text(queue_text("q", "HOST", "grid_size: [1, 1], t: 1, mblock: [1, 2], ublock: [2, 2]", 1, 0x20000000) +
                       queue_text("out", "n", "grid_size: [1, 1], t: 1, mblock: [4, 2], ublock: [1, 1], ublock_order: c", 1, 0x30000000),
                   op_text("n", "nop", "q", 1, "grid_loc: [0, 0], grid_size: [1, 1]",
                           "t: 1, mblock: [4, 2], ublock: [1, 1], ublock_order: c, buf_size_mb: 2", "input_0_tms: [transpose]"),
                   1));
  ASSERT_TRUE(b.ok()) << b.problem;
  auto pipes = b.feeding(b.input("n", {0, 0}, 0));
  ASSERT_EQ(pipes.size(), 1u);
  Id q = b.index->queue_buffer(0, 0);
  EXPECT_THAT(pipes.front()->inputs, ElementsAre(q, q + 4, q + 2, q + 6));
  EXPECT_EQ(b.buffer("q", BufferType::dram_io)->scatter_gather_num_tiles, 2);
  EXPECT_EQ(b.check(), "");
}

// An op of t = 4 that buffers one t, stacked twice below: consumer core (r, 0) takes ts 2r and 2r+1 of its t... with t = 4 and vstack 2 the
// consumer's t 0 has producer t 0 in its upper and t 1 in its lower half. Each half is one core, so buffers go to the cores in turn.
TEST(Reblocking, StackedBuffersTakeTurns) {
  std::string feeder = op_text("f", "nop", "q", 1, "grid_loc: [0, 0], grid_size: [1, 1]",
                               "t: 4, mblock: [1, 1], ublock: [2, 2], ublock_order: r, buf_size_mb: 2");
  std::string consumer = op_text("n", "nop", "f", 1, "grid_loc: [1, 0], grid_size: [2, 1]",
                                 "t: 2, mblock: [1, 1], ublock: [2, 2], ublock_order: r, buf_size_mb: 2", "input_0_tms: [vstack: 2]");
  Built b(netlist_text(queue_text("q", "HOST", "grid_size: [1, 1], t: 4, mblock: [1, 1], ublock: [2, 2]", 1, 0x20000000) +
                           queue_text("out", "n", "grid_size: [2, 1], t: 2, mblock: [1, 1], ublock: [2, 2]", 2, 0x30000000),
                       feeder + consumer, 3));
  ASSERT_TRUE(b.ok()) << b.problem;
  const Buffer* top = b.input("n", {1, 0}, 0);
  const Buffer* bottom = b.input("n", {2, 0}, 0);
  auto pipes = b.feeding(top);
  ASSERT_EQ(pipes.size(), 1u);
  EXPECT_EQ(pipes.front()->outputs, (std::vector<std::vector<Id>>{{top->id}, {bottom->id}}));
  EXPECT_EQ(pipes.front()->inputs.size(), 1u);
  EXPECT_EQ(b.check(), "");
}

// An op of t = 6 that buffers one t of 4 x 2 tiles, its ts stacked side by side in threes, and a column of padding as wide as one of them.
// Two cores take two of these four each, column by column: the first gets ts 0 and 1, the second t 2 and padding.
std::string padded_stack(int pad_rt) {
  std::string feeder = op_text("f", "nop", "q", 1, "grid_loc: [0, 0], grid_size: [2, 1]",
                               "t: 6, mblock: [1, 1], ublock: [2, 2], ublock_order: r, buf_size_mb: 2");
  std::string shape = cat("t: 2, mblock: [", (4 + pad_rt) / 2, ", 2], ublock: [2, 2], ublock_order: c");
  std::string consumer = op_text("n", "nop", "f", 1, "grid_loc: [2, 0], grid_size: [1, 2]", shape + ", buf_size_mb: 2",
                                 cat("input_0_tms: [hstack: 3], input_0_pad: {rt: ", pad_rt, ", ct: 2, pad_value: 1.5}"));
  return netlist_text(queue_text("q", "HOST", "grid_size: [2, 1], t: 6, mblock: [1, 1], ublock: [2, 2]", 2, 0x20000000) +
                          queue_text("out", "n", "grid_size: [1, 2], " + shape, 2, 0x30000000),
                      feeder + consumer, 3);
}

TEST(Reblocking, PaddingOfAStackIsATurnOfItsOwn) {
  Built b(padded_stack(0));
  ASSERT_TRUE(b.ok()) << b.problem;
  EXPECT_EQ(b.check(), "");
  const Buffer* left = b.input("n", {2, 0}, 0);
  const Buffer* right = b.input("n", {2, 1}, 0);
  auto pipes = b.feeding(left);
  ASSERT_EQ(pipes.size(), 2u) << "two turns of one pipe";
  const Pipe& p = *pipes.front();
  EXPECT_EQ(p.outputs, (std::vector<std::vector<Id>>{{left->id}, {left->id}, {right->id}, {right->id}}));
  EXPECT_EQ(p.inputs.size(), 2u) << "upper and lower core";
  ASSERT_EQ(p.output_padding.size(), 4u);
  EXPECT_THAT(std::vector<Id>(p.output_padding.begin(), p.output_padding.begin() + 3), ElementsAre(0, 0, 0));
  const Buffer* padding = BufferIndex(b.graph.buffers).find(p.output_padding[3]);
  ASSERT_NE(padding, nullptr);
  EXPECT_TRUE(padding->is_padding);
  EXPECT_EQ(padding->core, right->core);
  EXPECT_EQ(padding->scatter_gather_num_tiles, 4);
}

// Rows of padding stand below every t, so they are in the list; the column is still a turn.
TEST(Reblocking, PaddingOnBothSidesOfAStack) {
  Built b(padded_stack(2));
  ASSERT_TRUE(b.ok()) << b.problem;
  EXPECT_EQ(b.check(), "");
  const Pipe& p = *b.feeding(b.input("n", {2, 0}, 0)).front();
  EXPECT_EQ(p.inputs.size(), 12u);
  EXPECT_EQ(p.output_padding.size(), 4u);
  EXPECT_NE(p.output_padding[3], 0u);
}

TEST(Reblocking, PaddingInTheWrongTurnIsCaught) {
  Built b(padded_stack(0));
  ASSERT_TRUE(b.ok()) << b.problem;
  for (std::size_t wrong : {0u, 1u, 2u}) {
    PipeGraph graph = b.graph;
    for (Pipe& p : graph.pipes)
      if (p.outputs.size() == 4) std::swap(p.output_padding[wrong], p.output_padding[3]);
    EXPECT_NE(b.check(graph), "") << wrong;
  }
  PipeGraph graph = b.graph;
  for (Pipe& p : graph.pipes) p.output_padding.assign(p.output_padding.size(), 0);
  EXPECT_NE(b.check(graph), "");
}

TEST(Reblocking, PaddingThatIsNoWholeTurnIsRefused) {
  std::string text = padded_stack(0);
  for (std::string from :
       {"hstack: 3], input_0_pad: {rt: 0, ct: 2", "t: 2, mblock: [2, 2], ublock: [2, 2]", "t: 2, mblock: [2, 2], ublock: [2, 2]"})
    text.replace(text.find(from), from.size(),
                 from[0] == 'h' ? "hstack: 3], input_0_pad: {rt: 0, ct: 4" : "t: 2, mblock: [2, 5], ublock: [2, 1]");
  Built b(text);
  ASSERT_FALSE(b.ok());
  EXPECT_THAT(b.problem, HasSubstr("PP020"));
}

TEST(Reblocking, StackThatNeedsTwoBuffersAtOnceIsRefused) {
  // hstack 2 of t = 2 with columns side by side in one ublock row: rows alternate between the two ts.
  std::string feeder = op_text("f", "nop", "q", 1, "grid_loc: [0, 0], grid_size: [1, 1]",
                               "t: 2, mblock: [1, 1], ublock: [2, 2], ublock_order: r, buf_size_mb: 2");
  std::string consumer = op_text("n", "nop", "f", 1, "grid_loc: [1, 0], grid_size: [1, 1]",
                                 "t: 1, mblock: [1, 1], ublock: [2, 4], ublock_order: r, buf_size_mb: 2", "input_0_tms: [hstack: 2]");
  Built b(netlist_text(queue_text("q", "HOST", "grid_size: [1, 1], t: 2, mblock: [1, 1], ublock: [2, 2]", 1, 0x20000000) +
                           queue_text("out", "n", "grid_size: [1, 1], t: 1, mblock: [1, 1], ublock: [2, 4]", 1, 0x30000000),
                       feeder + consumer, 1));
  ASSERT_FALSE(b.ok());
  EXPECT_THAT(b.problem, HasSubstr("op 'n', input 0 from 'f'"));
  EXPECT_THAT(b.problem, HasSubstr("after tiles of its buffer 1"));
}

TEST(Reblocking, ShapesThatDoNotMatchAreRefusedWithBothShapes) {
  Built b(netlist_text(queue_text("q", "HOST", "grid_size: [1, 1], t: 1, mblock: [1, 2], ublock: [2, 2]", 1, 0x20000000) +
                           queue_text("out", "n", "grid_size: [1, 1], t: 1, mblock: [1, 1], ublock: [2, 2]", 1, 0x30000000),
                       op_text("n", "nop", "q", 1, "grid_loc: [0, 0], grid_size: [1, 1]",
                               "t: 1, mblock: [1, 1], ublock: [2, 2], ublock_order: r, buf_size_mb: 2"),
                       1));
  ASSERT_FALSE(b.ok());
  EXPECT_THAT(b.problem, HasSubstr("t=1 rt=2 ct=4"));
  EXPECT_THAT(b.problem, HasSubstr("t=1 rt=2 ct=2"));
}

TEST(Reblocking, KernelBroadcastBringsOnlyTheFirstTiles) {
  auto text = [](int factor) {
    return netlist_text(queue_text("q", "HOST", "grid_size: [1, 1], t: 1, mblock: [1, 1], ublock: [1, 2]", 1, 0x20000000) +
                            queue_text("out", "n", "grid_size: [1, 1], t: 1, mblock: [4, 1], ublock: [1, 2]", 1, 0x30000000),
                        op_text("n", "nop", "q", 1, "grid_loc: [0, 0], grid_size: [1, 1]",
                                "t: 1, mblock: [4, 1], ublock: [1, 2], ublock_order: r, buf_size_mb: 2",
                                cat("input_0_tms: [broadcast: {r: 4}], attributes: {kernel_broadcast: {input_0: ", factor, "}}")),
                        2);
  };
  Built b(text(2));
  ASSERT_TRUE(b.ok()) << b.problem;
  const Buffer* in = b.input("n", {0, 0}, 0);
  EXPECT_EQ(in->tile_clear_granularity, 2);
  EXPECT_EQ(in->epoch_tiles, 2 * 2);
  EXPECT_EQ(b.feeding(in).front()->inputs.size(), 1u);
  EXPECT_EQ(b.check(), "");
  // Three tiles do not repeat.
  Built bad(text(3));
  ASSERT_FALSE(bad.ok());
  EXPECT_THAT(bad.problem, HasSubstr("do not repeat after so many"));
}

// The kernel takes the tiles anew for each t that it accumulates, not for each t of the result.
TEST(Reblocking, KernelBroadcastPerTCountsTheTsThatAProductAddsUp) {
  auto queue = [](const char* name, const char* of, int t, const char* blocks, unsigned base) {
    return queue_text(name, of, cat("grid_size: [1, 1], t: ", t, ", ", blocks), 1, base);
  };
  Built b(netlist_text(
      queue("a", "HOST", 4, "mblock: [1, 1], ublock: [1, 2]", 0x20000000) +
          queue("w", "HOST", 4, "mblock: [1, 1], ublock: [2, 1]", 0x30000000) +
          queue("bias", "HOST", 2, "mblock: [1, 1], ublock: [1, 1]", 0x40000000) +
          queue("out", "mm", 2, "mblock: [3, 1], ublock: [1, 2]", 0x50000000),
      op_text("mm", "matmul", "a, w, bias", 3, "grid_loc: [0, 0], grid_size: [1, 1]",
              "t: 2, mblock: [3, 1], ublock: [1, 2], ublock_order: r, buf_size_mb: 2",
              "input_0_tms: [broadcast: {r: 3}], input_1_tms: [broadcast: {c: 2}], input_2_tms: [broadcast: {r: 3}, broadcast: {c: 2}], "
              "attributes: {m_k: 1, u_kt: 2, bias: true, accumulate: true, z: 2, kernel_broadcast_per_t: {input_0: 2, input_2: 1}}"),
      3));
  ASSERT_TRUE(b.ok()) << b.problem;
  EXPECT_EQ(b.input("mm", {0, 0}, 0)->epoch_tiles, 3 * 4 * 2);
  EXPECT_EQ(b.input("mm", {0, 0}, 2)->epoch_tiles, 3 * 2 * 1);
  EXPECT_EQ(b.check(), "");
}

// It used to end in a crash: there is no buffer to read from.
TEST(Reblocking, NothingComesOfADrainer) {
  auto drained = [](const std::string& queue_reads, const std::string& more) {
    return Built(netlist_text(queue_text("q", "HOST", "grid_size: [1, 1], t: 1, mblock: [1, 1], ublock: [1, 1]", 1, 0x20000000) +
                                  queue_text("out", queue_reads, "grid_size: [1, 1], t: 1, mblock: [1, 1], ublock: [1, 1]", 1, 0x30000000),
                              op_text("d", "drainer", "q", 1, "grid_loc: [0, 0], grid_size: [1, 1]",
                                      "t: 1, mblock: [1, 1], ublock: [1, 1], ublock_order: r, buf_size_mb: 2") +
                                  more,
                              1));
  };
  EXPECT_THAT(drained("d", "").problem, HasSubstr("a drainer has no output [PP016]"));
  EXPECT_THAT(drained("n", op_text("n", "nop", "d", 1, "grid_loc: [1, 0], grid_size: [1, 1]",
                                   "t: 1, mblock: [1, 1], ublock: [1, 1], ublock_order: r, buf_size_mb: 2"))
                  .problem,
              HasSubstr("op 'd' is a drainer, which has no output [PP014]"));
}

TEST(Padding, ComesFromTheConstantInDram) {
  Built b(netlist_text(
      queue_text("q", "HOST", "grid_size: [1, 1], t: 1, mblock: [1, 1], ublock: [1, 2]", 1, 0x20000000) +
          queue_text("out", "n", "grid_size: [1, 1], t: 1, mblock: [1, 1], ublock: [1, 3]", 1, 0x30000000),
      op_text("n", "nop", "q", 1, "grid_loc: [0, 0], grid_size: [1, 1]",
              "t: 1, mblock: [1, 1], ublock: [1, 3], ublock_order: r, buf_size_mb: 2", "input_0_pad: {rt: 0, ct: 1, pad_value: 1.5}"),
      2));
  ASSERT_TRUE(b.ok()) << b.problem;
  ASSERT_EQ(b.padding.entries().size(), 1u);
  EXPECT_EQ(b.padding.entries().front().address, 0x600000u);
  auto pipes = b.feeding(b.input("n", {0, 0}, 0));
  ASSERT_EQ(pipes.front()->inputs.size(), 3u);
  BufferIndex buffers(b.graph.buffers);
  const Buffer* pad = buffers.find(pipes.front()->inputs[2]);
  ASSERT_NE(pad, nullptr);
  EXPECT_TRUE(pad->is_padding);
  EXPECT_EQ(pad->dram_addr, 0x600000u);
  EXPECT_EQ(b.check(), "");
}

// 1 x 2 tiles become 2 x 3: each of the four new ones is taken from the same constant.
TEST(Padding, OfAnOpsOutputIsCountedAsOftenAsItIsTaken) {
  const std::string whole = "grid_size: [1, 1], t: 1, mblock: [1, 1], ublock: ";
  Built b(netlist_text(
      queue_text("q", "HOST", whole + "[1, 2]", 1, 0x20000000) + queue_text("out", "n", whole + "[2, 3]", 1, 0x30000000),
      op_text("a", "nop", "q", 1, "grid_loc: [0, 0], grid_size: [1, 1]",
              "t: 1, mblock: [1, 1], ublock: [1, 2], ublock_order: r, buf_size_mb: 2") +
          op_text("n", "nop", "a", 1, "grid_loc: [0, 1], grid_size: [1, 1]",
                  "t: 1, mblock: [1, 1], ublock: [2, 3], ublock_order: r, buf_size_mb: 2", "input_0_pad: {rt: 1, ct: 1, pad_value: 1.5}"),
      2));
  ASSERT_TRUE(b.ok()) << b.problem;
  auto pad = std::find_if(b.graph.buffers.begin(), b.graph.buffers.end(), [](const Buffer& x) { return x.is_padding; });
  ASSERT_NE(pad, b.graph.buffers.end());
  EXPECT_EQ(pad->scatter_gather_num_tiles, 1);
  EXPECT_EQ(pad->tiles_per_input, 4);
  EXPECT_EQ(b.check(), "");
}

TEST(Prologue, RightOperandIsReadInSharesAndGathered) {
  Built b(prologue_in_shares());
  ASSERT_TRUE(b.ok()) << b.problem;
  const Buffer* share = b.buffer("mm", BufferType::prolog_relay);
  ASSERT_NE(share, nullptr);
  EXPECT_EQ(share->size_tiles, 64);
  EXPECT_EQ(b.buffer("w", BufferType::dram_prolog)->prefetch_type, PrefetchType::post_tm);
  auto gather = b.feeding(b.input("mm", {0, 0}, 1));
  ASSERT_EQ(gather.size(), 1u);
  EXPECT_EQ(gather.front()->inputs.size(), 2u);
  EXPECT_EQ(gather.front()->outputs.front().size(), 2u);
  EXPECT_EQ(b.check(), "");
}

// What a splice takes is counted in what one core of its producer holds, for its rounds go through whole tensors.
TEST(Splice, BlocksAreTheProducersShares) {
  const std::string half = "t: 1, mblock: [2, 2], ublock: [1, 1]";
  const std::string ops = op_text("cat", "splice", "x, w", 2, "grid_loc: [0, 0], grid_size: [1, 1]",
                                  "t: 1, mblock: [2, 8], ublock: [1, 1], ublock_order: r, buf_size_mb: 2",
                                  "attributes: {granularity: ublock, input0: [0, 4, 4], input1: [0, 4, 4]}");
  Built b(netlist_text(queue_text("x", "HOST", "grid_size: [1, 2], " + half, 2, 0x20000000) +
                           queue_text("w", "HOST", "grid_size: [1, 1], t: 1, mblock: [2, 4], ublock: [1, 1]", 1, 0x30000000) +
                           queue_text("out", "cat", "grid_size: [1, 1], t: 1, mblock: [2, 8], ublock: [1, 1]", 1, 0x40000000),
                       ops, 2));
  ASSERT_TRUE(b.ok()) << b.problem;
  EXPECT_EQ(b.input("cat", {0, 0}, 0)->scatter_gather_num_tiles, 4);
  EXPECT_EQ(b.input("cat", {0, 0}, 1)->scatter_gather_num_tiles, 8);
  EXPECT_EQ(b.check(), "");
}

// On a transposed grid rows of what is kept since before the epoch are counted from the far end; a pipe that brings it stands where it is
// kept.
TEST(Prologue, PipesOnTransposedGridsStandWhereTheTilesAre) {
  const std::string blocks = "t: 3, mblock: [2, 1], ublock: [1, 1]";
  Built b(netlist_text(
      queue_text("q", "HOST", "grid_size: [1, 1], t: 3, mblock: [3, 5], ublock: [2, 1]", 1, 0x20000000, "type: ram, entries: 1") +
          queue_text("w", "HOST", "grid_size: [1, 1], t: 3, mblock: [5, 1], ublock: [1, 1]", 1, 0x30000000) +
          queue_text("out", "mm", "grid_size: [3, 1], " + blocks, 3, 0x40000000),
      op_text("mm", "matmul", "q, w", 2, "grid_transpose: true, grid_loc: [4, 4], grid_size: [3, 1]",
              blocks + ", ublock_order: r, buf_size_mb: 2", "attributes: {m_k: 5, u_kt: 1}"),
      3, "q: {prologue: true, epilogue: false, zero: false, rd_ptr_global: 0, wr_ptr_global: 0}"));
  ASSERT_TRUE(b.ok()) << b.problem;
  EXPECT_EQ(b.check(), "");
}

TEST(Refusals, NameOpInputAndPlace) {
  Built b(netlist_text(queue_text("q", "HOST", "grid_size: [1, 1], t: 1, mblock: [1, 1], ublock: [2, 2]", 1, 0x20000000) +
                           queue_text("out", "n", "grid_size: [1, 1], t: 1, mblock: [1, 1], ublock: [2, 2]", 1, 0x30000000),
                       op_text("n", "tilizer", "q", 1, "grid_loc: [0, 0], grid_size: [1, 1]",
                               "t: 1, mblock: [1, 1], ublock: [2, 2], ublock_order: r, buf_size_mb: 2"),
                       1));
  ASSERT_FALSE(b.ok());
  const Diagnostic& d = b.diagnostics.front();
  EXPECT_EQ(d.code, "PP014");
  EXPECT_EQ(d.node, "n");
  EXPECT_EQ(d.message, "op 'n', input 0: queue 'q' holds tiles, and the op takes rows");
  EXPECT_EQ(d.loc.line, 9u);
}

TEST(Refusals, AnOpBeyondTheGridDoesNotFit) {
  Built b(netlist_text(queue_text("q", "HOST", "grid_size: [1, 1], t: 1, mblock: [1, 1], ublock: [2, 2]", 1, 0x20000000),
                       op_text("n", "nop", "q", 1, "grid_loc: [9, 7], grid_size: [2, 1]",
                               "t: 1, mblock: [1, 1], ublock: [2, 2], ublock_order: r, buf_size_mb: 2"),
                       1));
  ASSERT_FALSE(b.ok());
  EXPECT_EQ(b.diagnostics.front().fault, Fault::fit);
  EXPECT_THAT(b.problem, HasSubstr("rows 9 to 10"));
}

}  // namespace
}  // namespace buda::pipes
