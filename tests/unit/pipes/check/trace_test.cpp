// SPDX-License-Identifier: Apache-2.0
// The steps of the checker: whose buffers there are, what they receive, and what they should receive.
#include <buda/pipes/check/check_tiles.hpp>
#include <buda/pipes/check/compare.hpp>
#include <buda/pipes/check/expected.hpp>
#include <buda/pipes/check/feeds.hpp>
#include <buda/pipes/check/owners.hpp>
#include <buda/pipes/check/trace.hpp>

#include "unit/pipes/built.hpp"

#include <gmock/gmock.h>

#include <functional>

namespace buda::pipes {
namespace {

using ::testing::ElementsAre;

// `n` stacks two ts of `f` side by side, on two cores that receive in rounds.
std::string stacked() {
  return netlist_text(queue_text("q", "HOST", "grid_size: [1, 1], t: 4, mblock: [1, 1], ublock: [1, 2]", 1, 0x20000000) +
                          queue_text("out", "n", "grid_size: [1, 2], t: 2, mblock: [1, 1], ublock: [1, 2]", 2, 0x30000000),
                      op_text("f", "nop", "q", 1, "grid_loc: [0, 0], grid_size: [1, 1]",
                              "t: 4, mblock: [1, 1], ublock: [1, 2], ublock_order: r, buf_size_mb: 2") +
                          op_text("n", "nop", "f", 1, "grid_loc: [1, 0], grid_size: [1, 2]",
                                  "t: 2, mblock: [1, 1], ublock: [1, 2], ublock_order: r, buf_size_mb: 2", "input_0_tms: [hstack: 2]"),
                      3);
}

class CheckSteps : public ::testing::Test {
 protected:
  CheckSteps() : built_(stacked()) {}
  void SetUp() override { ASSERT_TRUE(built_.ok()) << built_.problem; }
  const netlist::Op& op(const std::string& name) const { return *built_.index->op(name).op; }

  Built built_;
  CheckedEpoch epoch_{*built_.index,
                      *built_.device,
                      built_.cluster(),
                      built_.epochs.front(),
                      built_.padding,
                      built_.graph,
                      BufferIndex(built_.graph.buffers)};
  Findings findings_;
  Owners owners_ = find_owners(epoch_, findings_);
  Feeds feeds_ = find_feeds(epoch_, owners_, findings_);
  Trace trace_{epoch_, owners_, feeds_, findings_};
};

TEST_F(CheckSteps, OwnersByCoreAndAddress) {
  EXPECT_TRUE(findings_.failure.empty());
  for (std::int64_t core : {0, 1}) {
    const Buffer* output = owners_.output(op("n"), core);
    ASSERT_NE(output, nullptr);
    EXPECT_EQ(output->core, (GridCoord{1, static_cast<std::int32_t>(core)}));
    EXPECT_EQ(owners_.find(output)->kind, Owner::Kind::op);
    EXPECT_EQ(owners_.find(output)->core, core);
  }
  EXPECT_EQ(owners_.input(op("n"), 2, 0), nullptr);
  EXPECT_EQ(owners_.find(nullptr), nullptr);
  const Buffer* queue = built_.buffer("q", BufferType::dram_io);
  EXPECT_EQ(owners_.find(queue)->kind, Owner::Kind::queue);
  EXPECT_EQ(owners_.find(queue)->queue, built_.index->queue("q"));
  EXPECT_FALSE(owners_.is_relay(queue));
  EXPECT_EQ(address_of(epoch_, built_.netlist->queues[0], 0), queue->dram_addr);
}

TEST_F(CheckSteps, CoresReceiveInRounds) {
  const Buffer &left = *owners_.input(op("n"), 0, 0), &right = *owners_.input(op("n"), 1, 0);
  EXPECT_EQ(trace_.passes_of_a_cycle(left), 2);
  std::vector<TracedTile> tiles;
  ASSERT_TRUE(trace_.add_pass(left, 0, tiles));
  ASSERT_EQ(tiles.size(), 2u);
  EXPECT_EQ(tiles[1].text(*built_.netlist), "tile 1 of core 0 of op 'f'");
  tiles.clear();
  ASSERT_TRUE(trace_.add_pass(left, 1, tiles));
  EXPECT_TRUE(tiles.empty()) << "the second round is the other core's";
  ASSERT_TRUE(trace_.add_pass(right, 1, tiles));
  ASSERT_EQ(tiles.size(), 2u);
  EXPECT_EQ(tiles[0].number, 2);
}

TEST_F(CheckSteps, ExpectedByTheDefinitions) {
  const auto right = expected_input(epoch_, op("n"), 0, 1, 3, "here", findings_);
  ASSERT_TRUE(right.has_value());
  std::vector<std::int64_t> numbers;
  for (const TracedTile& t : right->tiles) numbers.push_back(t.number);
  EXPECT_THAT(numbers, ElementsAre(2, 3, 6, 7));
  EXPECT_EQ(right->per_input, 8);
  EXPECT_EQ(right->inputs, 1);
  EXPECT_EQ(right->passes, 4) << "one t at a time";
  const auto stored = expected_output(built_.netlist->queues[1], 1, op("n"), 3, "here", findings_);
  ASSERT_TRUE(stored.has_value());
  EXPECT_EQ(stored->tiles.front().core, 1);
}

// Netlists that the pipes are not of, as the checker reads what others made.
TEST_F(CheckSteps, InputsThatNoPipesCouldServe) {
  auto finding = [&](const std::function<void(netlist::Op&)>& change) {
    const Built damaged(stacked());
    netlist::Op& n = damaged.netlist->graphs.front().ops.back();
    change(n);
    const CheckedEpoch epoch{*damaged.index,
                             *damaged.device,
                             damaged.cluster(),
                             damaged.epochs.front(),
                             damaged.padding,
                             damaged.graph,
                             BufferIndex(damaged.graph.buffers)};
    Findings findings;
    EXPECT_FALSE(expected_input(epoch, n, 0, 0, 3, "here", findings));
    return messages(findings.failure);
  };
  EXPECT_EQ(finding([](netlist::Op& n) { n.inputs[0].kernel_broadcast.tiles = 1; }),
            "here: kernel_broadcast reads tile 0 of core 0 of op 'f' again where tile 1 of core 0 of op 'f' should be [PC015]\n");
  EXPECT_EQ(finding([](netlist::Op& n) { n.inputs[0].maps.tms.front().factor = 3; }),
            "op 'n', input 0: the manipulations do not apply [PC017]\n");
  EXPECT_EQ(finding([](netlist::Op& n) { n.block.mblock_m = 2; }), "here: it takes more than the t=2 rt=1 ct=4 that arrive [PC017]\n");
  EXPECT_EQ(finding([](netlist::Op& n) { n.type = netlist::OpType::tilizer; }),
            "here: the checker does not know this kind of input [PC019]\n");
}

TEST_F(CheckSteps, QueuesThatTakeMoreThanTheirOpGives) {
  netlist::Queue queue = built_.netlist->queues[1];
  queue.block.mblock_m = 2;
  EXPECT_FALSE(expected_output(queue, 0, op("n"), 3, "here", findings_));
  EXPECT_EQ(messages(findings_.failure), "here: it takes more than the t=2 rt=1 ct=4 that arrive [PC017]\n");
}

TEST_F(CheckSteps, CompareFindsTheFirstDifference) {
  const Checked checked{epoch_, owners_, feeds_, trace_};
  auto expected = expected_input(epoch_, op("n"), 0, 0, 3, "here", findings_);
  ASSERT_TRUE(expected.has_value());
  const Buffer& left = *owners_.input(op("n"), 0, 0);
  EXPECT_TRUE(compare(checked, "here", "n", left, *expected, 3, findings_));
  EXPECT_EQ(findings_.counts.buffers, 1);
  std::swap(expected->tiles[0], expected->tiles[1]);
  EXPECT_FALSE(compare(checked, "here", "n", left, *expected, 3, findings_));
  EXPECT_EQ(findings_.failure.diagnostics().front().code, "PC013");
  EXPECT_THAT(findings_.failure.diagnostics().front().message, ::testing::HasSubstr("tile 0 of core 0 of op 'f' comes"));
}

}  // namespace
}  // namespace buda::pipes
