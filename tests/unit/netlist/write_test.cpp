// SPDX-License-Identifier: Apache-2.0
// Writing netlists: what is written reads back equal, and the layout is pinned.
#include <buda/netlist/text/write.hpp>

#include "unit/netlist/samples.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace buda::netlist {
namespace {

using samples::kSmall;
using samples::parsed;

constexpr const char* kWritten = R"(# buda.netlist/1
devices:
  arch: wormhole_b0

queues:
  a:   {input: HOST, type: queue, entries: 4, grid_size: [1, 1], t: 1, mblock: [1, 2], ublock: [2, 2], ublock_order: r, df: Float16_b, target_device: 0, loc: dram, dram: [[0, 0x10000000]]}
  w:   {input: HOST, type: ram, entries: 1, grid_size: [1, 1], t: 1, mblock: [2, 1], ublock: [2, 2], ublock_order: r, df: Bfp8_b, target_device: 0, loc: dram, dram: [[1, 0x10000000]]}
  out: {input: e, type: queue, entries: 4, grid_size: [1, 1], t: 1, mblock: [1, 1], ublock: [2, 2], ublock_order: r, df: Float16_b, target_device: 0, loc: host, host: [0x0]}

graphs:
  fwd:
    target_device: 0
    input_count: 2
    mm: {type: matmul, grid_loc: [0, 0], grid_size: [1, 1], inputs: [a, w],
      t: 1, mblock: [1, 1], ublock: [2, 2], ublock_order: r, buf_size_mb: 2, in_df: [Float16_b, Bfp8_b], out_df: Float16_b, intermed_df: Float16_b, acc_df: Float16_b, math_fidelity: HiFi3,
      attributes: {m_k: 2, u_kt: 2}}
    e:  {type: exp, grid_loc: [0, 1], grid_size: [1, 1], inputs: [mm],
      t: 1, mblock: [1, 1], ublock: [2, 2], ublock_order: r, buf_size_mb: 2, in_df: [Float16_b], out_df: Float16_b, intermed_df: Float16_b, acc_df: Float16_b, math_fidelity: HiFi3}

programs:
  - run:
      - param: [$p_loops]
      - var: {$c_inputs: 2, $zero: 0}
      - staticvar: [$l, $g]
      - loop: $p_loops
      - execute: {graph_name: fwd, queue_settings: {
            a: {prologue: false, epilogue: false, zero: false, rd_ptr_local: $l, rd_ptr_global: $g},
            w: {prologue: true, epilogue: false, zero: false, rd_ptr_global: $zero, wr_ptr_global: $zero}}}
      - varinst: [$l, incwrap, $c_inputs, 8]
      - varinst: [$g, incwrap, $c_inputs, 8]
      - endloop
)";

TEST(WriteNetlist, TheLayoutIsPinned) { EXPECT_EQ(write_netlist(parsed(kSmall)), kWritten); }

TEST(WriteNetlist, ReadsBackEqualAndWritesTheSame) {
  Netlist n = parsed(kSmall);
  std::string text = write_netlist(n);
  Netlist again = parsed(text);
  EXPECT_EQ(again, n);
  EXPECT_EQ(write_netlist(again), text);
}

// Every field set to something that is not its default.
Netlist full() {
  Netlist n = parsed(kSmall);
  n.archs = {"grayskull", "wormhole_b0"};
  Queue& q = n.queues[2];
  q.name = "name with: odd [characters]";
  q.input_tms = {Tm::vslice(2), Tm::hstack(2)};
  q.ublock_order = UblockOrder::c;
  q.tile_dim = {16, 32};
  q.layout = QueueLayout::flat;
  q.alias = "w";
  q.buffers = {{1, 32}, {0, 64}};
  q.grid = {1, 2};
  q.read_ports = {0, 1};
  q.write_ports = {1, 0};
  Op& op = n.graphs[0].ops[0];
  op.grid_transpose = op.untilize_output = op.gradient_op = true;
  op.tile_dim = {32, 16};
  op.overlay_size = 70000;
  op.inputs[0] = {
      "a",       DataFormat::float16_b, {Unpad{1, 2}, {Tm::broadcast(Dim::z, 3), Tm::pad(1, 0, -0.5)}, Pad{0, 1, 1e-30}}, 3, 4, "e",
      {2, true}, SpliceRange{1, 2, 3}};
  op.inputs[1].kernel_broadcast = {5, false};
  OpAttributes& a = op.attributes;
  a.bias = a.accumulate = a.l1_acc = a.requant = a.dequant = a.approximate_mode = a.identity = a.kreduce = true;
  a.z = 2;
  a.min_buffer_input = 0;
  a.sfpu_op = "gelu";
  a.relu = {true, 0.1, ReluMode::min};
  a.zero_point = -1;
  a.vector = VectorMode::r;
  a.sfpu_thread = SfpuThread::pack;
  a.reduce_dim = Dim::z;
  a.p = 0.25;
  a.seed = 9;
  a.slope = 0;
  a.exp = -3;
  a.granularity = Granularity::ublock;
  a.sparse = {1, 2, 3, 4, 5, 6, 7, 8, 9, {10, 11}};
  a.num_indices = 64;
  a.k = 5;
  a.sort = TopkSort::argmax;
  a.ingress_channels = {0};
  a.egress_channels = {1};
  a.dest_device = 2;
  a.stochastic_rounding = StochasticRounding::fpu;
  a.fused_op_id = "layer 1";
  SubOp sub;
  sub.name = "s";
  sub.type = OpType::requantization;
  sub.inputs = {{{SubOperand::Kind::dest, 0}, {}}, {{SubOperand::Kind::input, 1}, {Tm::tile_broadcast(Dim::c)}}};
  sub.output = {SubOperand::Kind::intermed, 3};
  sub.pop = {{SubOperand::Kind::input, 1}};
  sub.pop_last = {{SubOperand::Kind::intermed, 3}};
  sub.attributes.zero_point = 4;
  sub.attributes.m_k = 6;
  n.fused_ops = {{"layer 1", 2, 4, "k.cpp", {{sub}, {}}, {}}, {"9", 1, 0, "", {}, {}}};
  auto& code = n.programs[0].instructions;
  QueueSetting s;
  s.queue = "a";
  s.prologue = Value::of("$x");
  s.zero = Value::number(3);
  s.read_only = Value::number(1);
  s.rd_ptr_autoinc = Value::number(2);
  s.global_rdptr_autoinc = Value::number(0);
  s.global_wrptr_autoinc = Value::of("$y");
  code.push_back({instruction::Allocate{{"a", "w"}}, {}});
  code.push_back({instruction::Deallocate{{}}, {}});
  code.push_back({instruction::Execute{"fwd", {s}}, {}});
  code.push_back({instruction::Execute{"fwd", {}}, {}});
  code.push_back({instruction::Var{false, {}}, {}});
  code.push_back({instruction::VarInst{"$x", VarOp::set, {Value::number(-5)}}, {}});
  n.programs.emplace_back().name = "empty";
  n.other.emplace_back("test-config", io::Node::map({{"a", io::Node::list({io::Node::integer(1), io::Node::string("1")})},
                                                     {"b", io::Node::map({{"c", io::Node::map({{"d", io::Node::null()}})}})},
                                                     {"e", io::Node::list()}}));
  n.other.emplace_back("note", io::Node::string("yes"));
  return n;
}

TEST(WriteNetlist, EveryFieldSurvives) {
  Netlist n = full();
  std::string text = write_netlist(n);
  Netlist again = parsed(text, "wormhole_b0");
  EXPECT_EQ(again.queues, n.queues);
  EXPECT_EQ(again.graphs, n.graphs);
  EXPECT_EQ(again.fused_ops, n.fused_ops);
  EXPECT_EQ(again.programs, n.programs);
  EXPECT_EQ(again, n);
  EXPECT_EQ(write_netlist(again), text) << text;
}

TEST(WriteNetlist, KeysStandWhereTheOriginalLooksForThem) {
  std::string text = write_netlist(full());
  auto before = [&](const char* a, const char* b) { return text.find(a) < text.find(b) && text.find(b) != std::string::npos; };
  EXPECT_TRUE(before("relu_en", "relu_mode"));
  EXPECT_TRUE(before("accumulate", "z: 2"));
  EXPECT_TRUE(before("inputs: [a, w]", "kernel_broadcast"));
  EXPECT_TRUE(before("queues:", "graphs:"));
  EXPECT_TRUE(before("graphs:", "programs:"));
}

TEST(WriteNetlist, AnEmptyNetlistIsWhole) {
  Netlist n;
  n.arch = "grayskull";
  n.archs = {"grayskull"};
  EXPECT_EQ(parsed(write_netlist(n)), n);
}

}  // namespace
}  // namespace buda::netlist
