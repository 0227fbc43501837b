// SPDX-License-Identifier: Apache-2.0
// Bytes and counts against numbers worked out by hand from the conventions of netlists (a tile of Float16_b takes 2080 bytes:
// 2048 of datums, 16 of header, aligned to 32; one of Bfp8_b 1120).
#include <buda/balance/resources/resources.hpp>

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
  // Without them there is nothing to keep: one step of the inner dimension, no bias.
  op.attributes.m_k = 1;
  EXPECT_EQ(l1_usage(op, {}, board("n150")).used, (72 + 96 + 2 * 48) * kF16);
}

TEST(L1, CountsHeadersOfAllSizesOfTilesOnTheChip) {
  const Op op = matmul();
  const std::uint64_t own = l1_usage(op, {}, board("n150")).used;
  Links links;
  links.tile_sizes = 3;
  EXPECT_EQ(l1_usage(op, links, board("n150")).used, own + 2 * 0x8000u);
  // They are those of its own tiles, too.
  Op mixed = op;
  mixed.intermed_format = DataFormat::bfp8_b;
  EXPECT_EQ(l1_usage(mixed, links, board("n150")).used, own + 48 * kB8 + 2 * 0x8000u);
}

TEST(L1, CountsWhatGoesRoundBeforeTheEpoch) {
  Op op = matmul();
  op.inputs[1].min_buffer_tiles = static_cast<std::int32_t>(input_order(op, 1).tiles());  // 30 * 2 * 4 = 240
  Links links;
  links.inputs.resize(2);
  links.inputs[1].prologue = true;
  std::uint64_t without = l1_usage(op, {}, board("n150")).used;
  EXPECT_EQ(l1_usage(op, links, board("n150")).used - without, 240 / 2 * kF16);  // two rows load half each
}

// A selection's activations: the queue itself, and what its pipe makes of it.
TEST(L1, CountsQueuesThatAreLoadedAsTheyAre) {
  Op op = matmul();
  op.attributes.identity = true;
  op.grid = {1, 1};
  op.inputs.resize(3);
  Links links;
  links.inputs.resize(3);
  const std::uint64_t without = l1_usage(op, links, board("n150")).used;
  links.inputs[1].prologue = true;
  EXPECT_EQ(l1_usage(op, links, board("n150")).used - without, static_cast<std::uint64_t>(input_order(op, 1).tiles()) * kF16);
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

// TT-Buda's pipegen2 receives 12 tiles of what one pipe takes from several cores: 6 in each of two streams, or 4 in each of three. A buffer
// that DRAM is read into is made larger: to between 26 and 52 KiB, or doubled up to 100 KiB.
TEST(L1, IsCountedAsTTBudaLaysItOut) {
  Op op = matmul();
  Links links;
  links.inputs.resize(2);
  links.inputs[0].sources = 2;
  links.inputs[1].sources = 20;
  links.inputs[1].from_queue = true;
  EXPECT_EQ(usages(op, links, board("n150"))[1].resource, Resource::dest);
  links.for_pipegen2 = true;
  const auto more = [&] {
    const std::vector<Usage> all = usages(op, links, board("n150"));
    EXPECT_EQ(all[1].resource, Resource::l1_pipegen2);
    EXPECT_EQ(all[1].available, all[0].available);
    return all[1].used - all[0].used;
  };
  EXPECT_EQ(more(), 12 * kF16) << "twice the relay of 48 tiles is more than 100 KiB";
  op.attributes.u_kt = 3;
  EXPECT_EQ(more(), (12 + 24) * kF16);
  links.inputs[1].prologue = true;
  EXPECT_EQ(more(), 12 * kF16) << "what is held for the whole epoch is read once";
  links.inputs[1].prologue = false;
  links.inputs[0].sources = 1;
  EXPECT_EQ(usages(op, links, board("n150"))[1].resource, Resource::dest) << "an op that gathers nothing";
}

TEST(L1, IsCountedAsTTBudaReadsDram) {
  Op op = unary();
  op.type = OpType::add;
  op.inputs.push_back(op.inputs[0]);
  Links links;
  links.for_pipegen2 = true;
  links.inputs.resize(2);
  links.inputs[0].sources = 2;
  // Of an operand of which the kernel keeps so many tiles, twice.
  const auto more = [&](std::int32_t tiles) {
    op.inputs[1].kernel_broadcast.tiles = tiles;
    links.inputs[1].from_queue = false;
    const std::uint64_t before = usages(op, links, board("n150"))[1].used;
    links.inputs[1].from_queue = true;
    return usages(op, links, board("n150"))[1].used - before;
  };
  EXPECT_EQ(more(1), (16 - 2) * kF16) << "8 times";
  EXPECT_EQ(more(2), (16 - 4) * kF16) << "4 times";
  EXPECT_EQ(more(8), (32 - 16) * kF16) << "doubled";
  EXPECT_EQ(more(12), 0u) << "48 tiles do not divide a phase of 2,040";
  EXPECT_EQ(more(16), 0u) << "twice of 32 tiles is more than 100 KiB";
}

// What pipegen2 would take in addition is three times the buffer of a relay from DRAM.
TEST(L1, ReadsFromDramAreBoundedWhereTTBudaWouldTakeMoreThanThereIs) {
  Op op = matmul();
  Links links;
  links.inputs.resize(2);
  links.inputs[1].from_queue = true;
  bound_dram_reads(op, links, board("n150"), nullptr);
  EXPECT_EQ(op.inputs[1].dram_io_tiles, 0);
  op.attributes.u_kt = 12;
  op.attributes.m_k = 2;
  const std::uint64_t used = l1_usage(op, links, board("n150")).used;
  ASSERT_LE(used, board("n150").l1.operand_bytes());
  ASSERT_GT(used + 3 * 96 * kF16, board("n150").l1.operand_bytes());
  bound_dram_reads(op, links, board("n150"), nullptr);
  EXPECT_EQ(op.inputs[1].dram_io_tiles, 96) << "12 rows of 8 tiles";
  EXPECT_EQ(op.inputs[0].dram_io_tiles, 0) << "that comes from cores";
  op.inputs[1].dram_io_tiles = 0;
  links.inputs[1].prologue = true;
  bound_dram_reads(op, links, board("n150"), nullptr);
  EXPECT_EQ(op.inputs[1].dram_io_tiles, 0) << "what is read once, before the epoch";
}

// An input that each core reads for itself is read into its own buffer, which pipegen2 doubles.
TEST(L1, ReadsOfOneCoreAreBoundedToo) {
  Op op = unary();
  Links links;
  links.inputs.resize(1);
  links.inputs[0].from_queue = true;
  bound_dram_reads(op, links, board("n150"), nullptr);
  EXPECT_EQ(op.inputs[0].dram_io_tiles, 0) << "there is room";
  op.block = {2, 75, 1, 2, 2};
  const std::uint64_t used = l1_usage(op, links, board("n150")).used;
  ASSERT_LE(used, board("n150").l1.operand_bytes());
  ASSERT_GT(used + 16 * kF16, board("n150").l1.operand_bytes());
  bound_dram_reads(op, links, board("n150"), nullptr);
  EXPECT_EQ(op.inputs[0].dram_io_tiles, 16);
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
  Diagnostic d = misfit("fc1", "fc1", *over, "split it");
  EXPECT_EQ(d.fault, Fault::fit);
  EXPECT_EQ(d.code, "BL010");
  EXPECT_EQ(d.node, "fc1");
  EXPECT_EQ(d.hint, "split it");
  EXPECT_THAT(d.message,
              ::testing::AllOf(::testing::HasSubstr("'fc1'"), ::testing::HasSubstr("L1 bytes"), ::testing::HasSubstr("1290176")));
  ASSERT_EQ(d.data.size(), 3u);
  EXPECT_EQ(d.data[0], (std::pair<std::string, std::string>{"resource", "l1"}));
  EXPECT_EQ(d.data[2], (std::pair<std::string, std::string>{"available", "1290176"}));
  EXPECT_GE(d.notes.size(), 3u);
}

}  // namespace
}  // namespace buda::balance
