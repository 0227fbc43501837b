// SPDX-License-Identifier: Apache-2.0
// Rounds of phased pipes, and the receivers that get them.
#include <buda/pipes/interchip/rounds.hpp>

#include <gtest/gtest.h>

namespace buda::pipes {
namespace {

InterChipPipe phased(std::vector<std::vector<Id>> groups, std::int64_t passes) {
  static const netlist::Op op;
  InterChipPipe out;
  out.pipe.outputs = std::move(groups);
  out.transfer.op = &op;
  out.transfer.to = 1;
  out.transfer.pass_tiles = 4;
  out.transfer.passes = passes;
  return out;
}

TEST(Rounds, GroupsReceiveInCyclicOrder) {
  EXPECT_EQ(rounds_per_group(phased({{1}, {2}, {3}}, 0).pipe, 5), (std::vector<std::int64_t>{2, 2, 1}));
  EXPECT_EQ(rounds_per_group(phased({{1}}, 0).pipe, 5), (std::vector<std::int64_t>{5}));
}

TEST(Rounds, PaddingComesWithTheGroupBefore) {
  Pipe pipe = phased({{1}, {2}, {3}}, 0).pipe;
  pipe.output_padding = {0, 9, 0};
  EXPECT_EQ(rounds_per_group(pipe, 5), (std::vector<std::int64_t>{3, 3, 2}));
  pipe.output_padding = {9, 0, 0};
  EXPECT_EQ(rounds_per_group(pipe, 5), (std::vector<std::int64_t>{3, 3, 2})) << "with the first, for lack of one before";
}

TEST(Rounds, EqualGroupsAreOneReceiver) {
  const auto receivers = receivers_of(phased({{1, 2}, {3}, {1, 2}}, 5));
  ASSERT_EQ(receivers.size(), 2u);
  EXPECT_EQ(receivers[0].groups, (std::vector<std::size_t>{0, 2}));
  EXPECT_EQ(receivers[0].rounds, 3);
  EXPECT_EQ(receivers[1].groups, (std::vector<std::size_t>{1}));
  EXPECT_EQ(receivers[1].rounds, 2);
}

TEST(Rounds, ReceiversThatCannotBeSeparated) {
  EXPECT_TRUE(can_separate_receivers(phased({{1}, {2}}, 6)));
  EXPECT_FALSE(can_separate_receivers(phased({{1}, {1}}, 6))) << "there is only one";
  EXPECT_FALSE(can_separate_receivers(phased({{1, 2}, {2, 3}}, 6))) << "a buffer belongs to both";
  InterChipPipe pipe = phased({{1}, {2}}, 6);
  pipe.transfer.input_count = 8;
  EXPECT_FALSE(can_separate_receivers(pipe)) << "12 tiles for 8 inputs";
  pipe = phased({{1}, {2}}, 6);
  pipe.transfer.from_queue = true;
  EXPECT_FALSE(can_separate_receivers(pipe)) << "a queue is read once";
  const ChipRoute route;
  pipe = phased({{1}, {2}}, 6);
  pipe.transfer.fixed_route = &route;
  EXPECT_FALSE(can_separate_receivers(pipe));
}

}  // namespace
}  // namespace buda::pipes
