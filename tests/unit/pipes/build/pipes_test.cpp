// SPDX-License-Identifier: Apache-2.0
// The steps by which pipes are made of routes.
#include <buda/pipes/build/dram_readers.hpp>
#include <buda/pipes/build/input_pipes.hpp>
#include <buda/pipes/build/output_pipes.hpp>
#include <buda/pipes/build/pipe_cores.hpp>
#include <buda/pipes/build/pipe_nocs.hpp>
#include <buda/pipes/build/source_blocks.hpp>

#include "unit/pipes/interchip/two_chips.hpp"
#include "unit/pipes/placed.hpp"

#include <gmock/gmock.h>

namespace buda::pipes {
namespace {

using ::testing::ElementsAre;

TEST(SourceBlocks, RunsAndConstants) {
  PipeRoute route;
  route.tiles.add({1, 4, 4});
  route.tiles.add({kPaddingCore, 0, 2});
  route.tiles.add({0, 2, 2});
  EXPECT_THAT(blocks_of(route, 2, {100, 200}, 7), ElementsAre(204, 206, 7, 102));
}

TEST(SourceBlocks, PassesOfPipes) {
  netlist::Op op;
  op.grid = {1, 1};
  op.block = {1, 1, 1, 1, 1};
  op.block.t = 6;
  op.buf_size_mb = 4;
  EXPECT_EQ(windows_of(op, 3), 9) << "two of 18 matrices at a time";
  op.buf_size_mb = 1;
  EXPECT_EQ(windows_of(op, 1), 6);
}

// Two cores side by side read one queue; `n` takes what `f` makes, core by core, and `m` multiplies it by `w`.
std::string chain() {
  const std::string two = "grid_size: [1, 2], t: 1, mblock: [1, 1], ublock: [2, 2]", order = ", ublock_order: r, buf_size_mb: 2";
  return netlist_text(
      queue_text("q", "HOST", two, 2, 0x20000000) +
          queue_text("w", "HOST", "grid_size: [1, 1], t: 1, mblock: [1, 2], ublock: [4, 2]", 1, 0x24000000) +
          queue_text("on", "n", two, 2, 0x30000000) + queue_text("om", "m", two, 2, 0x34000000),
      op_text("f", "nop", "q", 1, "grid_loc: [0, 0], grid_size: [1, 2]", two.substr(19) + order) +
          op_text("n", "nop", "f", 1, "grid_loc: [1, 0], grid_size: [1, 2]", two.substr(19) + order) +
          op_text("m", "matmul", "f, w", 2, "grid_loc: [2, 0], grid_size: [1, 2]", two.substr(19) + order, "attributes: {m_k: 1, u_kt: 4}"),
      2);
}

class Edges : public ::testing::Test {
 protected:
  Edges() : built_(chain()) {}
  void SetUp() override { ASSERT_TRUE(built_.ok()) << built_.problem; }
  static EdgePipes into(const Placed& p, const std::string& op, std::size_t input, IdSequence& ids, const PaddingTable& table) {
    PaddingBuffers padding(p.plan, table, ids);
    return input_pipes(p.epoch, p.plan.op_index.at(op), input, 0, ids, padding);
  }
  Built built_;
};

TEST_F(Edges, AUnicastStandsOnItsProducer) {
  Placed p(built_);
  const EdgePipes edge = into(p, "n", 0, p.ids, built_.padding);
  ASSERT_EQ(edge.complete.size(), 2u);
  EXPECT_TRUE(edge.inter_chip.empty());
  for (std::int32_t col : {0, 1}) {
    const Pipe& pipe = edge.complete[static_cast<std::size_t>(col)];
    EXPECT_THAT(pipe.mcast_core, ElementsAre(CoreCoord{0, {0, col}}));
    const Id first = p.epoch.ids.ops[0].outputs[static_cast<std::size_t>(col)];
    EXPECT_THAT(pipe.inputs, ElementsAre(first, first + 2)) << "m takes two tiles at a time";
    EXPECT_EQ(pipe.outgoing_vc, 2);
  }
}

TEST_F(Edges, AMulticastBeginsAtTheEndOfItsRow) {
  Placed p(built_);
  const std::size_t m = p.plan.op_index.at("m");
  const EdgePipes edge = into(p, "m", 0, p.ids, built_.padding);
  ASSERT_EQ(edge.complete.size(), 1u);
  const Pipe& pipe = edge.complete.front();
  EXPECT_EQ(pipe.outputs, (std::vector<std::vector<Id>>{p.epoch.ids.ops[m].inputs[0]}));
  EXPECT_THAT(pipe.mcast_core, ElementsAre(CoreCoord{0, {2, 0}}));
  EXPECT_EQ(pipe.outgoing_noc, 0);
  EXPECT_EQ(pipe.outgoing_vc, 4);
  const EdgePipes columns = into(p, "m", 1, p.ids, built_.padding);
  ASSERT_EQ(columns.complete.size(), 2u);
  EXPECT_EQ(columns.complete.front().outgoing_noc, 1);
}

TEST_F(Edges, OnePipeForEachBufferOfAQueue) {
  Placed p(built_);
  const EdgePipes edge = output_pipes(p.epoch, p.plan.queue_index.at(2), 0, p.ids);
  ASSERT_EQ(edge.complete.size(), 2u);
  for (std::size_t b : {0u, 1u}) {
    EXPECT_THAT(edge.complete[b].outputs.front(), ElementsAre(built_.index->queue_buffer(2, b)));
    EXPECT_EQ(edge.complete[b].incoming_vc, 0);
  }
}

TEST(SharePipes, AColumnGathersItsShares) {
  Built b(prologue_in_shares());
  ASSERT_TRUE(b.ok()) << b.problem;
  Placed p(b);
  const OpBufferIds& mm = p.epoch.ids.ops.front();
  const auto pipes = share_pipes(p.epoch, 0, 1, p.ids);
  ASSERT_EQ(pipes.size(), 1u);
  EXPECT_EQ(pipes.front().inputs, mm.shares[1]);
  EXPECT_EQ(pipes.front().outputs, (std::vector<std::vector<Id>>{mm.inputs[1]}));
  EXPECT_EQ(pipes.front().mcast_core.front().core, (GridCoord{1, 0})) << "network 1 begins at the far end";
  EXPECT_TRUE(share_pipes(p.epoch, 0, 0, p.ids).empty());
}

TEST(EdgePipes, PipesToAnotherChipAreLeftToBeCut) {
  Built b(two_chips(), "n300");
  ASSERT_TRUE(b.ok()) << b.problem;
  Placed p(b);
  PaddingBuffers padding(p.plan, b.padding, p.ids);
  const EdgePipes edge = input_pipes(p.epoch, p.plan.op_index.at("g"), 0, 5, p.ids, padding);
  EXPECT_TRUE(edge.complete.empty());
  ASSERT_EQ(edge.inter_chip.size(), 4u);
  const Transfer& t = edge.inter_chip.back().transfer;
  EXPECT_EQ(t.from, 0);
  EXPECT_EQ(t.to, 1);
  EXPECT_EQ(t.edge, 5u);
  EXPECT_EQ(t.source_worker, (GridCoord{1, 1}));
  EXPECT_EQ(t.pass_tiles, 2);
  EXPECT_EQ(t.passes, 2);
  const EdgePipes copy = input_pipes(p.epoch, p.plan.op_index.at("e"), 0, 6, p.ids, padding);
  ASSERT_EQ(copy.inter_chip.size(), 1u);
  EXPECT_EQ(copy.inter_chip.front().transfer.fixed_route, &p.epoch.cores.ethernet(p.plan.op_index.at("e"), 0)->route);
}

Pipe reading(Id pipe, std::vector<Id> inputs) {
  Pipe out;
  out.id = pipe;
  out.inputs = std::move(inputs);
  return out;
}

TEST(DramReaders, NumberedInOrderOfPipes) {
  std::vector<Buffer> buffers(2);
  buffers[0].id = kFirstId;
  buffers[1].id = kFirstId + kIdStep;
  buffers[0].type = BufferType::dram_io;
  buffers[1].type = BufferType::packer;
  buffers[0].is_scatter = true;
  buffers[0].replicate = buffers[0].scatter_gather_num_tiles = 2;
  const std::vector<Pipe> pipes = {reading(1, {kFirstId, kFirstId + 2}), reading(2, {kFirstId + kIdStep}), reading(3, {kFirstId})};
  auto numbered = number_readers(pipes, buffers, {{1, 0, 5, true}, {3, 0, 6, true}});
  EXPECT_THAT(numbered[0].dram_total_readers, ElementsAre(2, 2));
  EXPECT_THAT(numbered[0].dram_reader_index, ElementsAre(0, 0));
  EXPECT_FALSE(numbered[1].reads_dram());
  EXPECT_THAT(numbered[2].dram_reader_index, ElementsAre(1));

  const std::vector<Pipe> alike = {reading(1, {kFirstId}), reading(3, {kFirstId})};
  numbered = number_readers(alike, buffers, {{1, 0, 6, false}, {3, 0, 6, true}});
  EXPECT_THAT(numbered[0].dram_total_readers, ElementsAre(1));
  EXPECT_EQ(numbered[0].dram_fork_index, 1) << "the reader's own pipe comes first";
  EXPECT_EQ(numbered[1].dram_fork_index, 0);
  EXPECT_EQ(numbered[0].dram_num_forks, 2);
}

}  // namespace
}  // namespace buda::pipes
