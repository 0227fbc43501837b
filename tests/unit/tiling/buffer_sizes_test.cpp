// SPDX-License-Identifier: Apache-2.0
// Buffer sizes against numbers worked out by hand from the conventions of netlists (a tile of Float16_b takes 2080 bytes: 2048 of datums,
// 16 of header, aligned to 32; one of Bfp8_b 1120).
#include <buda/tiling/buffer_sizes.hpp>
#include <buda/tiling/flat_rows.hpp>

#include <gtest/gtest.h>

namespace buda::tiling {
namespace {

using netlist::Op;
using netlist::OpType;

Op matmul() {
  Op op;
  op.name = "mm";
  op.type = OpType::matmul;
  op.grid = {2, 4};
  op.block = {1, 3, 2, 2, 4};  // t, m, n, rt, ct
  op.attributes.m_k = 5;
  op.attributes.u_kt = 6;
  op.inputs.resize(2);
  op.inputs[0].format = op.inputs[1].format = DataFormat::float16_b;
  op.out_format = op.intermed_format = op.acc_format = DataFormat::float16_b;
  return op;
}

Op unary() {
  Op op;
  op.name = "u";
  op.type = OpType::exp;
  op.block = {2, 3, 2, 2, 2};
  op.inputs.resize(1);
  op.inputs[0].format = op.out_format = op.intermed_format = op.acc_format = DataFormat::float16_b;
  return op;
}

InputBuffer buffer_of(const Op& op, std::size_t input) {
  auto order = tile_order_of(op, nullptr, input, op.shape());
  EXPECT_TRUE(std::holds_alternative<TileOrder>(order));
  return input_buffer({op}, input, order.index() == 0 ? std::get<TileOrder>(order) : TileOrder{}, {}, 0);
}

OutputBuffer output_of(const Op& op, std::int64_t input_count = 1, bool scattered = false) {
  return output_buffer({op, nullptr, input_count}, scattered, 1);
}

std::int64_t intermediate_tiles(const Op& op) {
  std::int64_t tiles = 0;
  for (const auto& b : intermediate_buffers({op}, output_of(op))) tiles += b.size;
  return tiles;
}

TEST(InputBuffer, MatmulOperandsAreTwoBlocksOfTheInnerDimension) {
  Op op = matmul();
  // in0: mblock_m * ublock_rt * u_kt = 3 * 2 * 6 = 36; in1: mblock_n * ublock_ct * u_kt = 2 * 4 * 6 = 48.
  EXPECT_EQ(buffer_of(op, 0).clear, 36);
  EXPECT_EQ(buffer_of(op, 0).size, 72);
  EXPECT_EQ(buffer_of(op, 0).bytes(), 72 * 2080);
  EXPECT_EQ(buffer_of(op, 0).epoch_tiles, 5 * 36);
  EXPECT_EQ(buffer_of(op, 1).size, 96);
  op.attributes.min_buffer_input = 0;  // one row of ublocks: 2 * 6 = 12, and 32 KiB are 16 tiles, less than 24
  EXPECT_EQ(buffer_of(op, 0).clear, 12);
  EXPECT_EQ(buffer_of(op, 0).size, 24);
  EXPECT_EQ(buffer_of(op, 1).size, 96);
}

TEST(InputBuffer, SmallBlocksGetWhatArrivesWhileARequestIsUnderWay) {
  Op op = unary();
  op.block = {1, 1, 1, 1, 1};
  // 32768 / 2048 = 16 tiles of 2080 bytes.
  EXPECT_EQ(buffer_of(op, 0).size, 16);
  // 1120 is nearer to 1024: 32 tiles. 352 (Bfp2_b) is nearer to 256: 128. 608 (Bfp4_b) is nearer to 512: 64. 4128 -> 4096: 8.
  op.inputs[0].format = DataFormat::bfp8_b;
  EXPECT_EQ(buffer_of(op, 0).size, 32);
  EXPECT_EQ(buffer_of(op, 0).bytes(), 32 * 1120);
  op.inputs[0].format = DataFormat::bfp2_b;
  EXPECT_EQ(buffer_of(op, 0).size, 128);
  op.inputs[0].format = DataFormat::bfp4_b;
  EXPECT_EQ(buffer_of(op, 0).size, 64);
  op.inputs[0].format = DataFormat::float32;
  EXPECT_EQ(buffer_of(op, 0).size, 8);
  // A multiple of two blocks: 3 tiles at a time make 18, not 16.
  op.inputs[0].format = DataFormat::float16_b;
  op.block.ublock_ct = 3;
  EXPECT_EQ(buffer_of(op, 0).size, 18);
}

TEST(InputBuffer, MoreThanThreeInputsShareTheRoomOfThree) {
  Op op = unary();
  op.type = OpType::splice;
  op.block = {1, 1, 1, 1, 1};
  op.inputs.assign(7, op.inputs.front());
  // 3/7 of 16 tiles are 6.9, and a multiple of two tiles is 8.
  EXPECT_EQ(buffer_of(op, 0).size, 8);
}

TEST(InputBuffer, WhatTheNetlistAsksForCounts) {
  Op op = matmul();
  op.inputs[1].min_buffer_tiles = 50;  // less than 96
  EXPECT_EQ(buffer_of(op, 1).size, 96);
  op.inputs[1].min_buffer_tiles = 100;  // up to a multiple of 48
  EXPECT_EQ(buffer_of(op, 1).size, 144);
  // A kernel broadcast replaces the block and has no minimum.
  op.inputs[1].min_buffer_tiles = 0;
  op.inputs[1].kernel_broadcast = {3, false};
  EXPECT_EQ(buffer_of(op, 1).clear, 3);
  EXPECT_EQ(buffer_of(op, 1).size, 6);
}

TEST(InputBuffer, ReductionsTakeTheReducedDimension) {
  Op op = unary();
  op.type = OpType::reduce;
  op.block = {1, 1, 4, 1, 2};
  op.attributes.m_k = 3;
  op.attributes.u_kt = 7;
  op.attributes.reduce_dim = netlist::Dim::r;
  EXPECT_EQ(buffer_of(op, 0).clear, 14);            // ublock_ct * u_kt
  EXPECT_EQ(buffer_of(op, 0).epoch_tiles, 21 * 8);  // 21 rows, 4 * 2 columns
  op.attributes.reduce_dim = netlist::Dim::c;
  EXPECT_EQ(buffer_of(op, 0).clear, 7);  // ublock_rt * u_kt
  EXPECT_EQ(buffer_of(op, 0).epoch_tiles, 21);
  op.attributes.reduce_dim = netlist::Dim::z;
  op.attributes.z = 5;
  EXPECT_EQ(buffer_of(op, 0).clear, 2);
  EXPECT_EQ(buffer_of(op, 0).epoch_tiles, 40);
}

TEST(InputBuffer, ATilizersHoldsPiecesOfRows) {
  Op op = unary();
  op.type = OpType::tilizer;
  op.block = {1, 2, 3, 1, 4};
  auto cut = cut_rows(layout_of(op, 1), {}, op);
  ASSERT_TRUE(std::holds_alternative<RowCut>(cut));
  InputBuffer b = input_buffer({op}, 0, std::get<RowCut>(cut), {});
  EXPECT_EQ(b.clear, 32);           // rows of a ublock
  EXPECT_EQ(b.size, 64);            // two of them; 32 KiB are 16 tiles, and count as 16 pieces
  EXPECT_EQ(b.tile_bytes, 4 * 64);  // four tiles wide, 32 datums of 2 bytes each
}

TEST(OutputBuffer, TwoHalvesUnlessAllFitsIntoOne) {
  Op op = unary();  // 2 mblocks of 24 tiles per input
  EXPECT_EQ(output_of(op).size, 2 * 24);
  EXPECT_EQ(output_of(op).bytes(), 2 * 24 * 2080);
  // Handed out in blocks of one tile, the window is an mblock; where it is the whole epoch, there is no second half.
  EXPECT_EQ(output_of(op, 1, true).replicate, 24);
  EXPECT_EQ(output_of(op, 1, true).total_tiles(), 2 * 24);
  op.block.t = 1;
  EXPECT_EQ(output_of(op, 1, true).total_tiles(), 24);
  EXPECT_EQ(output_of(op, 2, true).total_tiles(), 2 * 24);
}

TEST(OutputBuffer, UntilizedOutputsHaveRowsOfUblocksWithoutHeaders) {
  Op op = unary();
  op.untilize_output = true;
  EXPECT_EQ(output_of(op).size, 2 * 4 * 2);  // two rows of two ublocks of four tiles
  EXPECT_EQ(output_of(op).tile_bytes, 2048);
}

TEST(IntermediateBuffers, PartialResultsShareTheOutputOfTheSameFormat) {
  Op op = matmul();
  EXPECT_TRUE(shares_output(op));
  EXPECT_EQ(intermediate_tiles(op), 2 * 48);
  op.intermed_format = DataFormat::bfp8_b;
  EXPECT_FALSE(shares_output(op));
  EXPECT_EQ(intermediate_tiles(op), 48);
  op.attributes.m_k = 1;
  EXPECT_EQ(intermediate_tiles(op), 0);
  op.attributes.bias = true;
  EXPECT_EQ(intermediate_tiles(op), 48);
  op.gradient_op = true;  // keeps all ts from epoch to epoch
  op.block.t = 3;
  EXPECT_EQ(intermediate_tiles(op), 3 * 48);
}

TEST(IntermediateBuffers, AreDeclaredByFusedOps) {
  using Kind = netlist::SubOperand::Kind;
  Op op = unary();
  op.type = OpType::fused_op;
  netlist::FusedOp fused;
  fused.intermediates = 2;
  netlist::SubOp first;
  first.type = OpType::exp;
  first.block = {1, 3, 2, 2, 2};
  first.output = {Kind::intermed, 1};
  fused.schedules = {{first}};
  auto buffers = intermediate_buffers({op, &fused}, output_of(op));
  ASSERT_EQ(buffers.size(), 2u);
  EXPECT_EQ(buffers[0].operand, 25);
  EXPECT_EQ(buffers[0].size, 4);  // a ublock of the sub-op that writes it
  EXPECT_EQ(buffers[1].size, 1);  // nobody writes it
}

TEST(StagingTiles, HalfOfTheReceiversBufferUnlessLessHidesTheLatency) {
  EXPECT_EQ(staging_tiles(72, 36, 2080), 36);
  EXPECT_EQ(staging_tiles(200, 10, 2080), 16);
  EXPECT_EQ(staging_tiles(200, 40, 2080), 40);
  EXPECT_EQ(staging_tiles(1, 1, 2080), 1);
}

}  // namespace
}  // namespace buda::tiling
