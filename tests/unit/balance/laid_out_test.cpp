// SPDX-License-Identifier: Apache-2.0
// Room for stream programs that are longer than expected.
#include "unit/pipes/built.hpp"

#include <buda/balance/emit/laid_out.hpp>
#include <buda/device/cluster.hpp>

#include <gmock/gmock.h>

namespace buda::balance {
namespace {

using pipes::op_text, pipes::queue_text;

// One core gathers tiles by turns from eight others, a phase each.
std::string gathering(int inputs, const std::string& room) {
  const std::string all = "t: 1, mblock: [16, 8], ublock: [1, 1]", column = "t: 1, mblock: [16, 1], ublock: [1, 1]";
  return pipes::netlist_text(
      queue_text("x", "HOST", "grid_size: [1, 1], " + all, 1, 0x20000000) +
          queue_text("y", "b", "grid_size: [1, 1], " + all, 1, 0x30000000),
      op_text("a", "nop", "x", 1, "grid_loc: [0, 0], grid_size: [1, 8]", column + ", ublock_order: r, buf_size_mb: 2") +
          op_text("b", "nop", "a", 1, "grid_loc: [1, 0], grid_size: [1, 1]", all + ", ublock_order: r, buf_size_mb: 2", room),
      inputs);
}

TEST(LaidOut, ProgramsGetTheRoomThatTheyNeed) {
  const pipes::Built built(gathering(5, "overlay_size: 4096"), "wormhole_b0");
  ASSERT_EQ(built.problem, "");
  netlist::Netlist netlist = *built.netlist;
  const auto too_small = lay_out(netlist, *built.device, {}, device::source_host());
  ASSERT_FALSE(too_small.ok());
  EXPECT_EQ(too_small.failure().diagnostics().front().code, "OV011");
  EXPECT_TRUE(lay_out_with_room(netlist, *built.device, {}, device::source_host()).ok());
  EXPECT_EQ(netlist.graphs[0].ops[1].overlay_size, 24576);
}

// What they need is said of L1 then.
TEST(LaidOut, ProgramsThatDoNotFitAreRefused) {
  const pipes::Built built(gathering(17, "overlay_size: 4096, input_buf_min_size_tiles: [360]"), "wormhole_b0");
  ASSERT_EQ(built.problem, "");
  netlist::Netlist netlist = *built.netlist;
  const auto made = lay_out_with_room(netlist, *built.device, {}, device::source_host());
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.failure().diagnostics().front().code, "OV015");
  EXPECT_THAT(made.failure().diagnostics().front().message, ::testing::HasSubstr("the stream program, which has 2177 phases"));
}

}  // namespace
}  // namespace buda::balance
