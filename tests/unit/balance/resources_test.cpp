// Buffer sizes and counts against numbers worked out by hand from the conventions of netlists (a tile of Float16_b takes 2080 bytes:
// 2048 of datums, 16 of header, aligned to 32; one of Bfp8_b 1120).
#include <buda/balance/resources.hpp>

#include "unit/balance/fixture.hpp"

namespace buda::balance {
namespace {

using netlist::Op;
using netlist::OpType;

constexpr std::uint64_t kF16 = 2080, kB8 = 1120;

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

TEST(InputBuffer, MatmulOperandsAreTwoBlocksOfTheInnerDimension) {
  Op op = matmul();
  // in0: mblock_m * ublock_rt * u_kt = 3 * 2 * 6 = 36; in1: mblock_n * ublock_ct * u_kt = 2 * 4 * 6 = 48.
  EXPECT_EQ(input_buffer(op, 0, board("n150")).clear_tiles, 36);
  EXPECT_EQ(input_buffer(op, 0, board("n150")).tiles, 72);
  EXPECT_EQ(input_buffer(op, 0, board("n150")).bytes, 72 * kF16);
  EXPECT_EQ(input_buffer(op, 1, board("n150")).tiles, 96);
  op.attributes.min_buffer_input = 0;  // one row of ublocks: 2 * 6 = 12, and 32 KiB are 16 tiles, less than 24
  EXPECT_EQ(input_buffer(op, 0, board("n150")).clear_tiles, 12);
  EXPECT_EQ(input_buffer(op, 0, board("n150")).tiles, 24);
  EXPECT_EQ(input_buffer(op, 1, board("n150")).tiles, 96);
}

TEST(InputBuffer, SmallBlocksGetWhatArrivesIn1024Cycles) {
  Op op = unary();
  op.block = {1, 1, 1, 1, 1};
  // 32768 / 2048 = 16 tiles of 2080 bytes.
  EXPECT_EQ(input_buffer(op, 0, board("n150")).tiles, 16);
  // 1120 is nearer to 1024: 32 tiles. 352 (Bfp2_b) is nearer to 256: 128. 608 (Bfp4_b) is nearer to 512: 64. 4128 -> 4096: 8.
  op.inputs[0].format = DataFormat::bfp8_b;
  EXPECT_EQ(input_buffer(op, 0, board("n150")).tiles, 32);
  EXPECT_EQ(input_buffer(op, 0, board("n150")).bytes, 32 * kB8);
  op.inputs[0].format = DataFormat::bfp2_b;
  EXPECT_EQ(input_buffer(op, 0, board("n150")).tiles, 128);
  op.inputs[0].format = DataFormat::bfp4_b;
  EXPECT_EQ(input_buffer(op, 0, board("n150")).tiles, 64);
  op.inputs[0].format = DataFormat::float32;
  EXPECT_EQ(input_buffer(op, 0, board("n150")).tiles, 8);
  // A multiple of two blocks: 3 tiles at a time make 18, not 16.
  op.inputs[0].format = DataFormat::float16_b;
  op.block.ublock_ct = 3;
  EXPECT_EQ(input_buffer(op, 0, board("n150")).tiles, 18);
}

TEST(InputBuffer, WhatTheNetlistDemandsCounts) {
  Op op = matmul();
  op.inputs[1].min_buffer_tiles = 50;  // less than 96
  EXPECT_EQ(input_buffer(op, 1, board("n150")).tiles, 96);
  op.inputs[1].min_buffer_tiles = 100;  // up to a multiple of 48
  EXPECT_EQ(input_buffer(op, 1, board("n150")).tiles, 144);
  // A kernel broadcast replaces the block and has no minimum.
  op.inputs[1].min_buffer_tiles = 0;
  op.inputs[1].kernel_broadcast = {3, false};
  EXPECT_EQ(input_buffer(op, 1, board("n150")).clear_tiles, 3);
  EXPECT_EQ(input_buffer(op, 1, board("n150")).tiles, 6);
}

TEST(InputBuffer, ReductionsTakeTheReducedDimension) {
  Op op = unary();
  op.type = OpType::reduce;
  op.block = {1, 1, 4, 1, 2};
  op.attributes.m_k = 3;
  op.attributes.u_kt = 7;
  op.attributes.reduce_dim = netlist::Dim::r;
  EXPECT_EQ(clear_tiles(op, 0), 14);      // ublock_ct * u_kt
  EXPECT_EQ(input_tiles(op, 0), 21 * 8);  // 21 rows, 4 * 2 columns
  op.attributes.reduce_dim = netlist::Dim::c;
  EXPECT_EQ(clear_tiles(op, 0), 7);  // ublock_rt * u_kt
  EXPECT_EQ(input_tiles(op, 0), 21);
  op.attributes.reduce_dim = netlist::Dim::z;
  op.attributes.z = 5;
  EXPECT_EQ(clear_tiles(op, 0), 2);
  EXPECT_EQ(input_tiles(op, 0), 40);
}

TEST(L1, IsTheSumOfItsParts) {
  Op op = matmul();
  // in0 72 tiles and, shared by 4 columns, a relay of half of it (36); in1 96 and a relay of 48; output 2 mblocks of 48.
  Usage u = l1_usage(op, {}, board("n150"));
  EXPECT_EQ(u.used, (72 + 36 + 96 + 48 + 2 * 48) * kF16);
  EXPECT_EQ(u.available, 1499136u - 64u - 0x33000u);
  std::uint64_t sum = 0;
  for (const auto& part : u.parts) sum += part.amount;
  EXPECT_EQ(sum, u.used);
  // One core shares nothing.
  op.grid = {1, 1};
  EXPECT_EQ(l1_usage(op, {}, board("n150")).used, (72 + 96 + 2 * 48) * kF16);
  // Partial results of another format have a buffer of their own.
  op.intermed_format = DataFormat::bfp8_b;
  EXPECT_EQ(l1_usage(op, {}, board("n150")).used, (72 + 96 + 2 * 48) * kF16 + 48 * kB8 + 0x8000u);
  op.attributes.m_k = 1;
  EXPECT_EQ(intermediate_bytes(op, board("n150")), 0u);
  op.attributes.bias = true;
  EXPECT_EQ(intermediate_bytes(op, board("n150")), 48 * kB8);
}

TEST(L1, CountsWhatGoesRoundBeforeTheEpoch) {
  Op op = matmul();
  op.inputs[1].min_buffer_tiles = static_cast<std::int32_t>(input_tiles(op, 1));  // 30 * 2 * 4 = 240
  Links links;
  links.inputs.resize(2);
  links.inputs[1].prologue = true;
  std::uint64_t without = l1_usage(op, {}, board("n150")).used;
  EXPECT_EQ(l1_usage(op, links, board("n150")).used - without, 240 / 2 * kF16);  // two rows load half each
}

TEST(L1, AnOverlayBeyondTheDefaultIsTakenFromTheOperands) {
  Op op = unary();
  std::uint64_t usual = l1_usage(op, {}, board("n150")).used;
  op.overlay_size = 65536;
  EXPECT_EQ(l1_usage(op, {}, board("n150")).used, usual);
  op.overlay_size = 65536 + 4096;
  EXPECT_EQ(l1_usage(op, {}, board("n150")).used, usual + 4096);
}

TEST(Phases, AskForALargerOverlayWhenTheyAreMany) {
  Op op = unary();
  Links links;
  links.inputs.resize(1);
  links.outputs.resize(1);
  links.inputs[0].phases = 400;
  links.outputs[0].phases = 460;  // 860 = 65408 / 38 / 2
  EXPECT_TRUE(phase_usage(op, links, board("n150")).fits());
  EXPECT_EQ(overlay_size_for(phase_usage(op, links, board("n150")), board("n150")), -1);
  links.outputs[0].phases = 461;
  Usage u = phase_usage(op, links, board("n150"));
  EXPECT_FALSE(u.fits());
  op.overlay_size = overlay_size_for(u, board("n150"));
  EXPECT_EQ(op.overlay_size, 65536);  // 861 * 76 = 65436, up to a multiple of 4 KiB
  EXPECT_TRUE(phase_usage(op, links, board("n150")).fits());
}

TEST(Streams, EveryLimitHasItsResource) {
  Op op = matmul();
  Links links;
  links.inputs.resize(2);
  for (auto& in : links.inputs) {
    in.from_queue = true;
    in.sources = 20;
    in.reads = 3000;
  }
  links.outputs.assign(9, OutputLink{true, 2, 1});
  std::map<Resource, Usage> by;
  for (auto& u : usages(op, links, board("n150"))) by[u.resource] = u;
  EXPECT_EQ(by[Resource::multicasts].used, 2u);
  EXPECT_EQ(by[Resource::dram_inputs].used, 2u);
  EXPECT_EQ(by[Resource::dram_buffers].used, 40u);
  EXPECT_FALSE(by[Resource::dram_buffers].fits());
  EXPECT_EQ(by[Resource::dram_reads].used, 3000u);
  EXPECT_FALSE(by[Resource::dram_reads].fits());
  EXPECT_EQ(by[Resource::dram_outputs].used, 9u);
  EXPECT_FALSE(by[Resource::dram_outputs].fits());
  EXPECT_EQ(by[Resource::fan_out].used, 18u);
  EXPECT_FALSE(by[Resource::fan_out].fits());
  EXPECT_EQ(by[Resource::dest].used, 8u);
  EXPECT_TRUE(by[Resource::dest].fits());
  for (const auto& [resource, usage] : by) {
    EXPECT_FALSE(resource_name(resource).empty());
    EXPECT_FALSE(resource_key(resource).empty());
  }
}

TEST(Misfit, SaysWhatNeedsHowMuchOfWhat) {
  Op op = matmul();
  op.block.mblock_m = 300;
  op.grid = {1, 1};
  auto all = usages(op, {}, board("n150"));
  const Usage* over = first_misfit(all);
  ASSERT_NE(over, nullptr);
  EXPECT_EQ(over->resource, Resource::l1);
  Diagnostic d = misfit("fc1", *over, "split it");
  EXPECT_EQ(d.fault, Fault::fit);
  EXPECT_EQ(d.node, "fc1");
  EXPECT_EQ(d.hint, "split it");
  EXPECT_THAT(d.message,
              ::testing::AllOf(::testing::HasSubstr("'fc1'"), ::testing::HasSubstr("L1 bytes"), ::testing::HasSubstr("1290176")));
  ASSERT_EQ(d.data.size(), 3u);
  EXPECT_EQ(d.data[0], (std::pair<std::string, std::string>{"resource", "l1"}));
  EXPECT_EQ(d.data[2], (std::pair<std::string, std::string>{"available", "1290176"}));
  EXPECT_GE(d.notes.size(), 3u);
}

TEST(Reach, WhoSharesAnInput) {
  Op op = matmul();
  op.inputs.resize(3);
  EXPECT_EQ(reach(op, 0), Reach::row);
  EXPECT_EQ(reach(op, 1), Reach::column);
  EXPECT_EQ(reach(op, 2), Reach::core);
  EXPECT_EQ(reach(unary(), 0), Reach::core);
}

}  // namespace
}  // namespace buda::balance
