// Random device graphs of every size, on all boards: what is balanced is sound, and the stages behind accept it; what is not says why.
#include "unit/balance/random_graph.hpp"

#include <buda/netlist/check/check.hpp>
#include <buda/netlist/text/parse.hpp>
#include <buda/netlist/text/write.hpp>
#include <buda/overlay/build.hpp>
#include <buda/overlay/usage.hpp>
#include <buda/pipes/build/build_pipes.hpp>

#include <algorithm>
#include <map>

namespace buda::balance {
namespace {

// Stream programs of all epochs, as the next tools make them from the netlist's text, and what they take of each op's fullest core. Adds
// why they cannot be made, if so.
struct LaidOut {
  std::string refusal;
  std::map<std::string, std::map<std::string, std::uint64_t>> used;  // by op, then resource

  void note(const overlay::CoreUsage& core) {
    auto keep = [&](const std::string& resource, std::uint64_t amount) {
      auto& most = used[core.op][resource];
      most = std::max(most, amount);
    };
    keep("l1", core.l1_bytes);
    keep("streams", static_cast<std::uint64_t>(core.streams));
    keep("phases", static_cast<std::uint64_t>(core.phases));
  }
};

LaidOut lay_out(const netlist::Netlist& netlist, const device::DeviceDescriptor& device) {
  LaidOut out;
  auto epochs = pipes::epochs_of(netlist, device);
  if (!epochs) return {text_of(epochs.failure()), {}};
  auto padding = pipes::PaddingTable::make(netlist, *epochs, device.tile_alignment);
  if (!padding) return {text_of(padding.failure()), {}};
  pipes::NetlistIndex index(netlist);
  for (const auto& epoch : *epochs) {
    auto graph = pipes::build_pipes(index, device, epoch, *padding);
    if (!graph) return {text_of(graph.failure()), {}};
    auto blob = overlay::build_blob(*graph, device);
    if (!blob) return {text_of(blob.failure()), {}};
    for (const auto& core : overlay::usage_of(*blob, device)) out.note(core);
  }
  return out;
}

class Random : public ::testing::TestWithParam<std::string> {};

TEST_P(Random, WhatIsBalancedIsSoundAndWhatIsNotSaysWhy) {
  int balanced = 0, refused = 0, several_epochs = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    graph::Graph graph = RandomGraph(seed).run();
    BalanceOptions options;
    options.models.allow_transpose = seed % 4 == 0;
    options.models.resident_parameters = seed % 5 != 0;
    auto result = balance_with(graph, GetParam(), options, *some_policy(seed));
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
    const LaidOut laid_out = lay_out(*parsed, board(GetParam()));
    EXPECT_EQ(laid_out.refusal, "") << "seed " << seed;
    for (const ReportEpoch& epoch : result->report.epochs)
      for (const ReportOp& op : epoch.ops)
        for (const auto& [resource, used] : laid_out.used.at(op.name)) {
          auto row = std::find_if(op.resources.begin(), op.resources.end(), [&](const ReportUsage& r) { return r.resource == resource; });
          ASSERT_NE(row, op.resources.end());
          EXPECT_EQ(row->used, used) << "seed " << seed << ": " << op.name << ", " << resource;
        }
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
