// SPDX-License-Identifier: Apache-2.0
// Which tiles cores take and queues store, as runs.
#include <buda/pipes/check/consumption.hpp>

#include "unit/pipes/built.hpp"

namespace buda::pipes {
namespace {

// x -> a -> mm <- w (a prologue) -> y; the matmul on two cores.
Built a_matmul() {
  const std::string shape = "t: 1, mblock: [2, 2], ublock: [1, 1]";
  return Built(netlist_text(
      queue_text("x", "HOST", "grid_size: [1, 1], " + shape, 1, 0x20000000) +
          queue_text("w", "HOST", "grid_size: [1, 1], t: 1, mblock: [2, 4], ublock: [1, 1]", 1, 0x21000000, "type: ram, entries: 1") +
          queue_text("y", "mm", "grid_size: [1, 2], " + shape, 2, 0x30000000),
      op_text("a", "nop", "x", 1, "grid_loc: [0, 0], grid_size: [1, 1]", shape + ", ublock_order: r, buf_size_mb: 2") +
          op_text("mm", "matmul", "a, w", 2, "grid_loc: [1, 0], grid_size: [1, 2]", shape + ", ublock_order: r, buf_size_mb: 2",
                  "attributes: {m_k: 2, u_kt: 1}"),
      2, "w: {prologue: true, epilogue: false, zero: false, rd_ptr_global: 0, wr_ptr_global: 0}"));
}

TEST(Consumption, OfAMatmul) {
  const Built b = a_matmul();
  ASSERT_TRUE(b.ok()) << b.problem;
  const Consumptions consumptions(*b.index, *b.device, b.epochs.front(), b.padding);
  const netlist::Op& mm = *b.index->op("mm").op;
  // The left operand column by column.
  auto left = consumptions.input(mm, 0, 1, 2);
  ASSERT_TRUE(left.ok() && left->has_value());
  EXPECT_EQ((*left)->tiles, 4);
  EXPECT_EQ((*left)->per_input, 4);
  EXPECT_EQ((*left)->at_once, 2);
  std::vector<std::int64_t> tiles;
  for (const ConsumedRun& run : (*left)->runs) {
    EXPECT_EQ(run.op, b.index->op("a").op);
    for (std::int64_t i = 0; i < run.count; ++i) tiles.push_back(run.first + i);
  }
  EXPECT_EQ(tiles, (std::vector<std::int64_t>{0, 2, 1, 3}));
  // The right columns of a prologue, which does not go on from input to input.
  auto right = consumptions.input(mm, 1, 1, 2);
  ASSERT_TRUE(right.ok() && right->has_value());
  EXPECT_EQ((*right)->per_input, 0);
  ASSERT_EQ((*right)->runs.size(), 2u);
  EXPECT_EQ((*right)->runs[1].from, ConsumedRun::From::queue);
  EXPECT_EQ((*right)->runs[1].queue_buffer, b.index->queue_buffer(b.index->queue("w"), 0));
  EXPECT_EQ((*right)->runs[1].first, 6);
  EXPECT_EQ((*right)->runs[1].count, 2);
}

TEST(Consumption, OfAQueue) {
  const Built b = a_matmul();
  ASSERT_TRUE(b.ok()) << b.problem;
  const Consumptions consumptions(*b.index, *b.device, b.epochs.front(), b.padding);
  const netlist::Op& mm = *b.index->op("mm").op;
  auto stored = consumptions.stored(b.netlist->queues[b.index->queue("y")], 1, mm, 2);
  ASSERT_TRUE(stored.ok() && stored->has_value());
  ASSERT_EQ((*stored)->runs.size(), 1u);
  EXPECT_EQ((*stored)->runs[0].op, &mm);
  EXPECT_EQ((*stored)->runs[0].core, 1);
  EXPECT_EQ((*stored)->runs[0].count, 4);
  netlist::Op rows = mm;
  rows.untilize_output = true;
  auto as_rows = consumptions.stored(b.netlist->queues[b.index->queue("y")], 1, rows, 2);
  ASSERT_TRUE(as_rows.ok());
  EXPECT_FALSE(as_rows->has_value());
}

}  // namespace
}  // namespace buda::pipes
