// SPDX-License-Identifier: Apache-2.0
// Random device graphs of every size, on all boards: what is balanced is sound, and the stages behind accept it; what is not says why.
#include "unit/balance/fixture.hpp"
#include "unit/balance/random_graph.hpp"

#include <buda/netlist/check/check.hpp>
#include <buda/netlist/text/parse.hpp>
#include <buda/netlist/text/write.hpp>
#include <buda/overlay/build.hpp>
#include <buda/overlay/usage.hpp>
#include <buda/pipes/build/build_pipes.hpp>
#include <buda/pipes/check/check.hpp>

#include <algorithm>
#include <cstdio>
#include <map>

namespace buda::balance {
namespace {

// Pipes, proved tile by tile, and stream programs of all epochs, as the next tools make them from the netlist's text, and what they take of
// each op's fullest core. Adds why they cannot be made, if so.
struct LaidOut {
  std::string refusal;
  std::map<std::string, std::map<std::string, std::uint64_t>> used;  // by op, then resource
  std::map<std::string, std::map<std::string, std::uint64_t>> l1;    // bytes by op, then buffer

  void note(const overlay::CoreUsage& core) {
    auto keep = [&](const std::string& resource, std::uint64_t amount) {
      auto& most = used[core.op][resource];
      most = std::max(most, amount);
    };
    keep("l1", core.l1_bytes);
    keep("streams", static_cast<std::uint64_t>(core.streams));
    keep("phases", static_cast<std::uint64_t>(core.phases));
    for (const overlay::L1Piece& piece : core.l1) l1[core.op][piece.what] = piece.bytes;
  }
};

LaidOut lay_out(const netlist::Netlist& netlist, const device::DeviceDescriptor& device) {
  LaidOut out;
  auto epochs = pipes::epochs_of(netlist, device);
  if (!epochs) return {text_of(epochs.failure()), {}, {}};
  auto padding = pipes::PaddingTable::make(netlist, *epochs, device.tile_alignment);
  if (!padding) return {text_of(padding.failure()), {}, {}};
  pipes::NetlistIndex index(netlist);
  for (const auto& epoch : *epochs) {
    auto graph = pipes::build_pipes(index, device, epoch, *padding);
    if (!graph) return {text_of(graph.failure()), {}, {}};
    if (auto checked = pipes::check_pipes(index, device, epoch, *padding, *graph); !checked) return {text_of(checked.failure()), {}, {}};
    auto blob = overlay::build_blob(*graph, device);
    if (!blob) return {text_of(blob.failure()), {}, {}};
    for (const auto& core : overlay::usage_of(*blob, device)) out.note(core);
  }
  return out;
}

std::uint64_t as_bytes(const tiling::InputBuffer& buffer) { return static_cast<std::uint64_t>(buffer.bytes()); }

// What channels move by the routes of edges, with which buffers are placed, is what streams move that were laid out for them.
void expect_loads_of_streams(const BuiltNetlist& built, const std::string& label) {
  for (std::size_t e = 0; e < built.laid_out.loads.size(); ++e) {
    std::vector<ChannelBytes> channels(built.laid_out.loads[e].channels.size());
    for (std::size_t q = 0; q < built.uses.size(); ++q)
      for (std::size_t b = 0; b < built.uses[q].size(); ++b)
        for (const BufferLoad& load : built.uses[q][b].loads) {
          if (load.epoch != static_cast<std::int32_t>(e)) continue;
          ChannelBytes& channel = channels[static_cast<std::size_t>(built.netlist.queues[q].buffers[b].channel)];
          (load.before ? channel.before : load.written ? channel.written : channel.read) += load.bytes;
        }
    // Which half of a large channel it is follows from addresses, which routes do not know.
    for (std::size_t c = 0; c < channels.size(); ++c) {
      channels[c].upper = built.laid_out.loads[e].channels[c].upper;
      channels[c].upper_before = built.laid_out.loads[e].channels[c].upper_before;
    }
    EXPECT_EQ(channels, built.laid_out.loads[e].channels) << label << ", epoch " << e;
  }
}

// No plan is faster than the bounds say, as a whole or in an epoch.
void expect_bounds_below(const PlacementReport& report, const std::string& label) {
  const ReportTotals& t = report.totals;
  ASSERT_TRUE(t.schedule_bound && t.universal_bound) << label;
  EXPECT_GT(t.universal_bound->cycles, 0) << label;
  EXPECT_LE(t.universal_bound->cycles, t.schedule_bound->cycles) << label;
  EXPECT_LE(t.schedule_bound->cycles, t.cycles) << label;
  for (const ReportEpoch& epoch : report.epochs) {
    EXPECT_LE(epoch.bound, epoch.cycles) << label << ", epoch " << epoch.graph;
    EXPECT_FALSE(epoch.ended_by.empty()) << label << ", epoch " << epoch.graph;
  }
}

class Random : public ::testing::TestWithParam<std::string> {};

TEST_P(Random, WhatIsBalancedIsSoundAndWhatIsNotSaysWhy) {
  std::uint64_t balanced = 0, refused = 0, several_epochs = 0;
  const SeedRange seeds = seeds_wanted(24);
  for (std::uint64_t seed = seeds.first; seed < seeds.end(); ++seed) {
    graph::Graph graph = random_graph(seed);
    BalanceOptions options;
    options.models.allow_transpose = seed % 4 == 0;
    options.models.resident_parameters = seed % 5 != 0;
    if (seed % 2 == 0) options.queues.divided_from = 0;
    options.batches = seed % 3 == 0 ? 1 : 8;
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
          auto row = std::find_if(op.resources.begin(), op.resources.end(),
                                  [&, name = resource](const ReportUsage& r) { return r.resource == name; });
          ASSERT_NE(row, op.resources.end());
          EXPECT_EQ(row->used, used) << "seed " << seed << ": " << op.name << ", " << resource;
        }
    // Inputs get no larger buffers than those that models were chosen by. A queue that is read before the epoch may get a smaller one.
    for (const auto& g : parsed->graphs)
      for (const auto& op : g.ops)
        for (std::size_t i = 0; i < op.inputs.size(); ++i)
          EXPECT_GE(as_bytes(input_buffer(op, i, board(GetParam()))), laid_out.l1.at(op.name).at(cat("input ", i)))
              << "seed " << seed << ": " << op.name << ", input " << i;
    expect_loads_of_streams(result->built, cat("seed ", seed));
    expect_bounds_below(result->report, cat("seed ", seed));
    // The resource model says the same of the netlist that was read back.
    for (const auto& g : parsed->graphs)
      for (const auto& op : g.ops) EXPECT_TRUE(l1_usage(op, {}, board(GetParam())).fits()) << "seed " << seed << ": " << op.name;
  }
  // The generator has to reach all three.
  EXPECT_GT(balanced * 2, seeds.count);
  EXPECT_GT(refused, 0u);
  EXPECT_GT(several_epochs * 20, seeds.count);
  if (!seeds.is_usual)
    std::printf("%s: %llu of %llu graphs balanced, %llu in several epochs\n", GetParam().c_str(), static_cast<unsigned long long>(balanced),
                static_cast<unsigned long long>(seeds.count), static_cast<unsigned long long>(several_epochs));
}

INSTANTIATE_TEST_SUITE_P(Boards, Random, ::testing::ValuesIn(boards()), [](const auto& tested) { return tested.param; });

}  // namespace
}  // namespace buda::balance
