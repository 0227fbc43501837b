// SPDX-License-Identifier: Apache-2.0
// The table of op classes: every class has its row, and what attributes make of it.
#include <buda/ops/table/device_op.hpp>
#include <buda/ops/table/op_class.hpp>

#include <gtest/gtest.h>

namespace buda::ops {
namespace {

TEST(OpClasses, EveryTypeHasARowWithOperands) {
  for (const DeviceOp& op : device_ops()) {
    const OpClassInfo& row = class_info(op.op_class);
    EXPECT_EQ(row.op_class, op.op_class) << op.name;
    ASSERT_FALSE(row.operands.empty()) << op.name;
    EXPECT_EQ(row.operands.front().needs, Needs::nothing) << op.name;
    EXPECT_GE(row.min_inputs(), 1u) << op.name;
    EXPECT_LE(row.min_inputs(), row.max_inputs()) << op.name;
  }
}

TEST(OpClasses, AttributesMakeVariants) {
  const OpClassInfo &dense = class_info(OpClass::matmul), &sparse = class_info(OpClass::matmul, OpVariant::sparse);
  EXPECT_EQ(dense.min_inputs(), 2u);
  EXPECT_EQ(sparse.min_inputs(), 3u);
  EXPECT_EQ(sparse.operand(1).role, OperandRole::activations);
  EXPECT_NE(sparse.cost, dense.cost);
  EXPECT_EQ(sparse.row_major, dense.row_major);
  EXPECT_TRUE(class_info(OpClass::reduce).inner);
  EXPECT_FALSE(class_info(OpClass::reduce, OpVariant::over_z).inner);
  EXPECT_EQ(class_info(OpClass::matmul, OpVariant::sub_op).operand(0).scan, Scan::rows);
  // Others are what they are.
  EXPECT_EQ(class_info(OpClass::unary, OpVariant::sparse).operand(0).role, OperandRole::elementwise);
}

TEST(OpClasses, TheLastOperandStandsForThoseThatFollow) {
  const OpClassInfo& splice = class_info(OpClass::splice);
  EXPECT_EQ(splice.min_inputs(), 1u);
  EXPECT_EQ(splice.max_inputs(), 8u);
  EXPECT_EQ(splice.operand(7).role, OperandRole::spliced);
  EXPECT_EQ(class_info(OpClass::buffer).max_inputs(), 2u);
}

}  // namespace
}  // namespace buda::ops
