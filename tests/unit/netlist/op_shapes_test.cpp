// SPDX-License-Identifier: Apache-2.0
// Shapes that ops need, and sizes of queues.
#include <buda/netlist/model/op_shapes.hpp>

#include "unit/netlist/samples.hpp"

#include <gtest/gtest.h>

namespace buda::netlist {
namespace {

Op op_of(OpType type, std::size_t inputs) {
  Op op;
  op.type = type;
  op.inputs.resize(inputs);
  op.grid = {2, 3};
  op.block = {4, 5, 6, 1, 2};  // 2*5*1 = 10 rows, 3*6*2 = 36 columns
  return op;
}

TEST(OpShapes, ElementwiseNeedsItsOutput) {
  EXPECT_EQ(needed_shape(op_of(OpType::add, 2), 1), (TileShape{4, 10, 36}));
  EXPECT_EQ(needed_shape(op_of(OpType::gelu, 1), 0), (TileShape{4, 10, 36}));
}

TEST(OpShapes, MatmulNeedsRowsAndColumns) {
  Op op = op_of(OpType::matmul, 3);
  op.attributes.m_k = 7;
  op.attributes.u_kt = 2;
  op.attributes.bias = true;
  EXPECT_EQ(needed_shape(op, 0), (TileShape{4, 10, 14}));
  EXPECT_EQ(needed_shape(op, 1), (TileShape{4, 14, 36}));
  EXPECT_EQ(needed_shape(op, 2), (TileShape{4, 10, 36}));
  EXPECT_EQ(bias_input(op), 2u);
  EXPECT_EQ(expected_inputs(op).min, 3u);
  EXPECT_EQ(expected_inputs(op).max, 3u);
  op.attributes.accumulate = true;
  op.attributes.z = 3;
  EXPECT_EQ(needed_shape(op, 0), (TileShape{12, 10, 14}));
  op.attributes.requant = true;
  EXPECT_EQ(requant_input(op), 3u);
  EXPECT_EQ(operand_row(op, 3).role, OperandRole::scales);
  op.attributes.bias = false;
  EXPECT_EQ(operand_row(op, 2).role, OperandRole::scales);
  EXPECT_EQ(requant_input(op), 2u);
}

TEST(OpShapes, SparseMatmulKnowsItsActivationsOnly) {
  Op op = op_of(OpType::matmul, 3);
  op.attributes.identity = true;
  op.attributes.m_k = op.attributes.u_kt = 2;
  EXPECT_EQ(needed_shape(op, 0), std::nullopt);
  EXPECT_EQ(needed_shape(op, 1), (TileShape{0, 4, 36}));
  EXPECT_EQ(operand_row(op, 2).role, OperandRole::index_tiles);
  op.attributes.bias = true;
  EXPECT_EQ(bias_input(op), 3u);
}

TEST(OpShapes, ReduceDepthwiseTopk) {
  Op reduce = op_of(OpType::reduce, 1);
  reduce.attributes.m_k = 8;
  reduce.attributes.u_kt = 2;
  reduce.attributes.reduce_dim = Dim::r;
  EXPECT_EQ(needed_shape(reduce, 0), (TileShape{4, 32, 36}));
  reduce.attributes.reduce_dim = Dim::c;
  EXPECT_EQ(needed_shape(reduce, 0), (TileShape{4, 10, 48}));
  reduce.attributes.reduce_dim = Dim::z;
  reduce.attributes.z = 5;
  EXPECT_EQ(needed_shape(reduce, 0), (TileShape{20, 10, 36}));
  Op depthwise = op_of(OpType::depthwise, 2);
  depthwise.attributes.m_k = 9;
  depthwise.attributes.u_kt = 1;
  EXPECT_EQ(needed_shape(depthwise, 0), (TileShape{4, 10, 324}));
  EXPECT_EQ(needed_shape(depthwise, 1), (TileShape{4, 9, 36}));
}

TEST(OpShapes, FusedInputsAreThoseOfTheirFirstReader) {
  Op op = op_of(OpType::fused_op, 3);
  SubOp add, mm;
  add.type = OpType::add;
  add.inputs = {{{SubOperand::Kind::input, 0}, {}}, {{SubOperand::Kind::input, 2}, {}}};
  add.block = {1, 5, 6, 1, 2};
  mm.type = OpType::matmul;
  mm.inputs = {{{SubOperand::Kind::intermed, 0}, {}}, {{SubOperand::Kind::input, 1}, {}}};
  mm.block = {1, 5, 1, 1, 1};
  mm.attributes.m_k = 6;
  mm.attributes.u_kt = 2;
  FusedOp fused{"0", 3, 1, "", {{add, mm}}, {}};
  EXPECT_EQ(needed_shape(op, 2, &fused), (TileShape{4, 10, 36}));
  EXPECT_EQ(needed_shape(op, 1, &fused), (TileShape{4, 12, 3}));
  EXPECT_EQ(needed_shape(op, 3, &fused), std::nullopt);
}

TEST(OpShapes, QueueSizes) {
  Queue q = samples::parsed(samples::kSmall).queues[0];  // 4 entries of 8 tiles of Float16_b
  EXPECT_EQ(entry_bytes(q), 8u * 2080);
  EXPECT_EQ(buffer_bytes(q), 32 + 4u * 8 * 2080);
  EXPECT_EQ(buffer_bytes(q, 64, 64), 64 + 4u * 8 * 2112);
  q.layout = QueueLayout::flat;
  EXPECT_EQ(entry_bytes(q), 8u * 2048);
  q.tile_dim = {16, 32};
  EXPECT_EQ(entry_bytes(q), 8u * 1024);
}

}  // namespace
}  // namespace buda::netlist
