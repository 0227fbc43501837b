// SPDX-License-Identifier: Apache-2.0
// Which kernels turn the tiles of which inputs.
#include <buda/kernels/text/package.hpp>
#include <buda/kernels/text/turned_inputs.hpp>

#include <gtest/gtest.h>

namespace buda::kernels {
namespace {

netlist::Op matmul(DataFormat format) {
  netlist::Op op;
  op.name = "op";
  op.type = netlist::OpType::matmul;
  op.inputs.resize(2);
  for (auto& input : op.inputs) {
    input.format = format;
    input.maps.tms = {netlist::Tm::transpose()};
  }
  op.out_format = op.intermed_format = op.acc_format = DataFormat::float16_b;
  op.attributes.m_k = op.attributes.u_kt = 1;
  return op;
}

Kernel kernel(const netlist::Op& op, const Package* package = nullptr) {
  auto choice = kernel_of(op, nullptr, package);
  EXPECT_TRUE(std::holds_alternative<Kernel>(choice));
  return std::get<Kernel>(choice);
}

TEST(TurnedInputs, AreThoseOfSrcAIn16Bits) {
  const netlist::Op op = matmul(DataFormat::float16_b);
  EXPECT_FALSE(can_turn(op, 0)) << "the left operand is in SrcB";
  EXPECT_TRUE(can_turn(op, 1));
  EXPECT_TRUE(turns(kernel(op), op, 1));
  EXPECT_FALSE(can_turn(matmul(DataFormat::float32), 1));
  netlist::Op plain = op;
  plain.inputs[1].maps.tms.clear();
  EXPECT_FALSE(turns(kernel(plain), plain, 1));
  EXPECT_FALSE(turns(kernel(plain), op, 1)) << "one that was compiled when kernels did not turn tiles";
}

TEST(TurnedInputs, KernelsOfOthersGetWhatHasBeenTransposed) {
  const netlist::Op op = matmul(DataFormat::float16_b);
  const Package package{"folder", "own", {}, std::nullopt, "own.h"};
  const Kernel own = kernel(op, &package);
  EXPECT_FALSE(turns(own, op, 1));
  for (const Constant& c : own.constants) EXPECT_EQ(c.value.find(", true}"), std::string::npos) << c.name;
}

}  // namespace
}  // namespace buda::kernels
