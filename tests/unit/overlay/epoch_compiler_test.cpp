// SPDX-License-Identifier: Apache-2.0
// What a netlist's epochs have in common, and the check before.
#include <buda/overlay/epoch_compiler.hpp>

#include "unit/pipes/built.hpp"

#include <gtest/gtest.h>

namespace buda::overlay {
namespace {

const std::string kOneTile = "t: 1, mblock: [1, 1], ublock: [1, 1], ublock_order: r";

std::string copy_text(const std::string& grid_loc) {
  return pipes::netlist_text(
      pipes::queue_text("x", "HOST", "grid_size: [1, 1], " + kOneTile, 1, 0x10000000) +
          pipes::queue_text("y", "a", "grid_size: [1, 1], " + kOneTile, 1, 0x20000000),
      pipes::op_text("a", "nop", "x", 1, cat("grid_loc: ", grid_loc, ", grid_size: [1, 1]"), kOneTile, "buf_size_mb: 2"), 2);
}

Result<netlist::Netlist> parsed(const std::string& text) { return netlist::parse_netlist(text, "net.yaml", {"wormhole_b0"}); }

TEST(EpochCompiler, MakesPipesThatNameTheDeviceAndAreRight) {
  Host& host = pipes::source_host();
  auto text = host.fs().read(host.share_dir + "/examples/netlists/nop.yaml");
  ASSERT_TRUE(text.ok());
  auto netlist = parsed(std::string(text->view()));
  ASSERT_TRUE(netlist.ok());
  auto compiler = EpochCompiler::check_and_make(*netlist, pipes::shipped("wormhole_b0"), "", pipes::source_host(), "mine.yaml");
  ASSERT_TRUE(compiler.ok()) << pipes::messages(compiler.failure());
  ASSERT_EQ(compiler->epochs().size(), 1u);
  auto made = compiler->pipes(compiler->epochs().front());
  ASSERT_TRUE(made.ok()) << pipes::messages(made.failure());
  EXPECT_EQ(made->device, "mine.yaml");
  auto counts = compiler->check(compiler->epochs().front(), *made);
  ASSERT_TRUE(counts.ok()) << pipes::messages(counts.failure());
  EXPECT_GT(counts->tiles, 0);
  made->pipes.front().inputs.push_back(made->pipes.front().inputs.front());
  EXPECT_FALSE(compiler->check(compiler->epochs().front(), *made).ok());
}

TEST(EpochCompiler, ANetlistThatBreaksARuleIsRefusedBeforeItsEpochsAreMade) {
  auto netlist = parsed(copy_text("[50, 0]"));
  ASSERT_TRUE(netlist.ok());
  auto compiler = EpochCompiler::check_and_make(*netlist, pipes::shipped("wormhole_b0"), "", pipes::source_host());
  ASSERT_FALSE(compiler.ok());
  EXPECT_EQ(compiler.failure().diagnostics().front().code.substr(0, 2), "NL");
}

TEST(EpochCompiler, AnEmptyNetlistHasNoEpochs) {
  netlist::Netlist netlist;
  netlist.arch = "wormhole_b0";
  auto compiler = EpochCompiler::check_and_make(netlist, pipes::shipped("wormhole_b0"), "", pipes::source_host());
  ASSERT_TRUE(compiler.ok()) << pipes::messages(compiler.failure());
  EXPECT_TRUE(compiler->epochs().empty());
}

}  // namespace
}  // namespace buda::overlay
