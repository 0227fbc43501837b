// SPDX-License-Identifier: Apache-2.0
// Which row an op goes by, and what stands in where a device has none.
#include <buda/cost/kernel_cycles.hpp>

#include <buda/netlist/model/fused_op.hpp>
#include <buda/ops/table/op_class.hpp>

#include "unit/cost/fixture.hpp"

#include <algorithm>

namespace buda::cost {
namespace {

using netlist::MathFidelity;
using netlist::OpType;
using netlist::SubOperand;

device::KernelCost math_row(const char* op, const char* variant, DataFormat format, double tile) {
  device::KernelCost row;
  row.op = op;
  row.variant = variant;
  row.format = format;
  row.math = {0, tile};
  row.origin = {"test.csv", 3, device::CostError{tile / 100, 0}};
  return row;
}

device::DeviceDescriptor small_device() {
  device::DeviceDescriptor device;
  device.tile_alignment = 32;
  device.cost.math_cycles_per_tile = 16;
  device::KernelCost copy = math_row("nop", "", kBfp8, 0);
  copy.unpack = {0, 80};
  copy.pack = {100, 0};
  device.cost.kernels = {math_row("exp", "", kBfp8, 1000), math_row("exp", "approx", kBfp8, 500), math_row("exp", "", kHalf, 1100), copy};
  return device;
}

TEST(KernelCycles, GoByTheVariantAndTheNearestFormat) {
  const auto device = small_device();
  auto op = op_of(OpType::exp, kBfp8, {1, 1, 1, 1, 1});
  EXPECT_EQ(kernel_cycles(op, nullptr, device).total, 1000);
  EXPECT_EQ(kernel_cycles(op, nullptr, device).basis, Basis::measured);
  EXPECT_EQ(kernel_cycles(op, nullptr, device).error, 10);
  op.attributes.approximate_mode = true;
  EXPECT_EQ(kernel_cycles(op, nullptr, device).total, 500);
  op.attributes.approximate_mode = false;
  op.inputs[0].format = DataFormat::float16;
  EXPECT_EQ(kernel_cycles(op, nullptr, device).total, 1100);
  EXPECT_EQ(kernel_cycles(op, nullptr, device).basis, Basis::measured);
  op.inputs[0].format = DataFormat::float32;
  EXPECT_EQ(kernel_cycles(op, nullptr, device).total, 1100);
  EXPECT_EQ(kernel_cycles(op, nullptr, device).basis, Basis::other_format);
}

TEST(KernelCycles, ACopyOfLargerTilesUnpacksLonger) {
  const auto device = small_device();
  auto op = op_of(OpType::datacopy, kHalf, {1, 1, 1, 2, 2});
  double larger = static_cast<double>(tile_bytes(kHalf)) / tile_bytes(kBfp8);
  EXPECT_DOUBLE_EQ(kernel_cycles(op, nullptr, device).total, 4 * 80 * larger);
}

TEST(KernelCycles, AnOpWithoutARowIsACopy) {
  const auto device = small_device();
  KernelCycles c = kernel_cycles(op_of(OpType::topk, kBfp8, {2, 1, 1, 2, 2}, 2), nullptr, device);
  EXPECT_EQ(c.total, 2 * 4 * 80);
  EXPECT_EQ(c.basis, Basis::copy);
  EXPECT_EQ(basis_name(c.basis), "as a copy");
  // Also a reduction of four, which reads them all.
  auto op = op_of(OpType::reduce, kBfp8, {2, 1, 1, 2, 2});
  op.attributes.reduce_dim = netlist::Dim::z;
  op.attributes.z = 4;
  EXPECT_EQ(kernel_cycles(op, nullptr, device).total, 4 * 2 * 4 * 80);
}

// exp(in0) stays in the destination register, from which a copy is made.
netlist::FusedOp exp_and_copy(netlist::BlockShape block) {
  netlist::FusedOp fused;
  netlist::SubOp exp, copy;
  exp.type = OpType::exp;
  exp.inputs = {{{SubOperand::Kind::input, 0}, {}}};
  exp.output = {SubOperand::Kind::dest, 0};
  copy.type = OpType::nop;
  copy.inputs = {{{SubOperand::Kind::dest, 0}, {}}};
  exp.block = copy.block = block;
  fused.schedules = {{exp, copy}};
  return fused;
}

TEST(KernelCycles, WhatStaysInDestIsNotMovedAgain) {
  const auto device = small_device();
  auto op = op_of(OpType::fused_op, kBfp8, {2, 3, 1, 1, 1});
  netlist::FusedOp fused = exp_and_copy(op.block);
  KernelCycles c = kernel_cycles(op, &fused, device);
  // 6 ublocks of one tile: 1000 for exp, and for the copy, which unpacks nothing, the packer's 100.
  EXPECT_EQ(c.total, 6 * (1000 + 100));
  EXPECT_EQ(c.unpack, 0);
  EXPECT_EQ(c.math, 6 * (1000 + 16));
  // Through L1 the copy unpacks too.
  fused.schedules[0][0].output = {SubOperand::Kind::intermed, 0};
  fused.schedules[0][1].inputs[0].operand = {SubOperand::Kind::intermed, 0};
  EXPECT_EQ(kernel_cycles(op, &fused, device).unpack, 6 * 80);
  EXPECT_GE(kernel_cycles(op, &fused, device).total, c.total);
}

TEST(KernelCycles, OfASparseMatmulFollowItsCounts) {
  const auto& device = shipped("n150");
  auto op = op_of(OpType::matmul, kHalf, {2, 4, 1, 2, 4}, 3);
  op.attributes.identity = true;
  op.attributes.m_k = 8;
  op.attributes.u_kt = 4;
  op.attributes.sparse.num_nz_strips = {3, 6};
  SparseCounts guess = guess_sparse_counts(op);
  EXPECT_EQ(guess.strips, 6);
  // 8 rows of ublocks of 2 tiles, each with 2.5 tiles of the activations: 5 of them lie in 2 strips of 4.
  EXPECT_EQ(guess.ublocks, 16);
  EXPECT_EQ(guess.tiles, 40);
  SparseCounts few{2, 4, 6};
  EXPECT_EQ(kernel_cycles(op, nullptr, device, &guess).total, kernel_cycles(op, nullptr, device).total);
  EXPECT_EQ(kernel_cycles(op, nullptr, device, &guess).basis, Basis::measured);
  EXPECT_EQ(kernel_cycles(op, nullptr, device).basis, Basis::assumed);
  EXPECT_LT(kernel_cycles(op, nullptr, device, &few).total, kernel_cycles(op, nullptr, device).total);
}

// Strips have u_kt rows of activation tiles, ublocks ublock_rt rows of the output; a tile that is listed per ublock column is one.
TEST(KernelCycles, SparseProductsAreCounted) {
  auto op = matmul_of(kHalf, MathFidelity::hifi4, {2, 2, 2, 2, 1}, 4, 2);
  const std::vector<netlist::SparseProduct> products = {
      {.t = 0, .row = 0, .act = 0},  // strip 0, ublock row 0
      {.t = 0, .row = 1, .act = 1},  // the same
      {.t = 0, .row = 2, .act = 1},  // ublock row 1
      {.t = 0, .row = 2, .act = 5, .column = 0},
      {.t = 0, .row = 2, .act = 5, .column = 1},  // strip 2
      {.t = 1, .row = 2, .act = 5},               // the second matrix reads it again
  };
  const SparseCounts counts = count_sparse_products(op, products);
  EXPECT_EQ(counts.strips, 3);
  EXPECT_EQ(counts.ublocks, 4);
  EXPECT_EQ(counts.tiles, 5);
}

TEST(KernelCycles, GrowWithFidelityAndNeverFallBelowAStage) {
  for (const char* name : {"e150", "n150", "blackhole"}) {
    const auto& device = shipped(name);
    double before = 0;
    for (MathFidelity f : {MathFidelity::lofi, MathFidelity::hifi2, MathFidelity::hifi3, MathFidelity::hifi4}) {
      KernelCycles c = kernel_cycles(matmul_of(kHalf, f, {1, 4, 4, 2, 4}, 4, 4), nullptr, device);
      EXPECT_GE(c.total, before) << name;
      EXPECT_GE(c.total, std::max({c.unpack, c.math, c.pack})) << name;
      before = c.total;
    }
  }
}

TEST(KernelCycles, EveryTypeOfOpTakesTime) {
  for (const char* name : {"e75", "n300", "blackhole"})
    for (const auto& info : netlist::all_op_types()) {
      auto op = op_of(info.type, kHalf, {1, 2, 2, 2, 2}, ops::class_info(info.op_class).min_inputs());
      op.attributes.m_k = op.attributes.u_kt = op.attributes.z = 2;
      EXPECT_GT(kernel_cycles(op, nullptr, shipped(name)).total, 0) << name << ' ' << info.name;
    }
}

}  // namespace
}  // namespace buda::cost
