// Random device graphs of every size, on all boards: what is balanced is sound, and the stages behind accept it; what is not says why.
#include "unit/balance/random_graph.hpp"

#include <buda/netlist/check.hpp>
#include <buda/netlist/parse.hpp>
#include <buda/netlist/write.hpp>
#include <buda/overlay/build.hpp>
#include <buda/pipes/build.hpp>

namespace buda::balance {
namespace {

// Why a netlist has no pipes or no streams on the device; nothing when it has.
std::string later_refusal(const netlist::Netlist& netlist, const device::DeviceDescriptor& device) {
  auto epochs = pipes::epochs_of(netlist, device);
  if (!epochs) return text_of(epochs.failure());
  auto padding = pipes::PaddingTable::make(netlist, *epochs, device.tile_alignment);
  if (!padding) return text_of(padding.failure());
  pipes::NetlistIndex index(netlist);
  for (const auto& epoch : *epochs) {
    auto graph = pipes::build_pipes(index, device, epoch, *padding);
    if (!graph) return text_of(graph.failure());
    if (auto blob = overlay::build_blob(*graph, device); !blob) return text_of(blob.failure());
  }
  return "";
}

class Random : public ::testing::TestWithParam<std::string> {};

TEST_P(Random, WhatIsBalancedIsSoundAndWhatIsNotSaysWhy) {
  int balanced = 0, refused = 0, several_epochs = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    graph::Graph graph = RandomGraph(seed).run();
    BalanceOptions options;
    options.models.allow_transpose = seed % 4 == 0;
    options.models.resident_parameters = seed % 5 != 0;
    auto result = balance_with(graph, GetParam(), options, seed % 2 == 0);
    if (!result.ok()) {
      ++refused;
      for (const auto& d : result.failure().diagnostics()) {
        EXPECT_EQ(d.fault, Fault::fit) << "seed " << seed << ": " << d.message;
        EXPECT_FALSE(d.node.empty()) << "seed " << seed << ": " << d.message;
      }
      continue;
    }
    ++balanced;
    several_epochs += result->choice.epochs() > 1 ? 1 : 0;
    std::string text = netlist::write_netlist(result->built.netlist);
    auto parsed = netlist::parse_netlist(text, "net.yaml");
    ASSERT_TRUE(parsed.ok()) << "seed " << seed << ": " << text_of(parsed.failure());
    EXPECT_TRUE(*parsed == result->built.netlist) << "seed " << seed;
    for (const auto& d : netlist::check_netlist(*parsed, board(GetParam()), {netlist::CheckLevel::run}))
      EXPECT_NE(d.severity, Severity::error) << "seed " << seed << ": " << d.code << ' ' << d.message;
    EXPECT_EQ(later_refusal(*parsed, board(GetParam())), "") << "seed " << seed;
    // The resource model says the same of the netlist that was read back.
    for (const auto& g : parsed->graphs)
      for (const auto& op : g.ops) EXPECT_TRUE(l1_usage(op, {}, board(GetParam())).fits()) << "seed " << seed << ": " << op.name;
  }
  // The generator has to reach all three.
  EXPECT_GT(balanced, 30);
  EXPECT_GT(refused, 0);
  EXPECT_GT(several_epochs, 3);
}

INSTANTIATE_TEST_SUITE_P(Boards, Random, ::testing::ValuesIn(boards()), [](const auto& tested) { return tested.param; });

}  // namespace
}  // namespace buda::balance
