// SPDX-License-Identifier: Apache-2.0
// Transfers shared out among both networks, by what stream programs then put on the links.
#include <buda/pipes/build/balance_networks.hpp>

#include <buda/overlay/build.hpp>
#include <buda/overlay/flows.hpp>
#include <buda/overlay/traffic.hpp>

#include "unit/pipes/built.hpp"
#include "unit/pipes/check/random_netlists.hpp"

#include <buda/pipes/noc/routes.hpp>

#include <gtest/gtest.h>

#include <map>

namespace buda::overlay {
namespace {

std::uint64_t busiest_link(const pipes::PipeGraph& graph, const pipes::Built& b) {
  const auto blob = build_blob(graph, *b.device, b.cluster());
  EXPECT_TRUE(blob.ok());
  const auto links = blob ? traffic_of(*blob, *b.device).links : std::vector<LinkLoad>{};
  return links.empty() ? 0 : links.front().bytes;
}

// Everything that one core takes comes by network 0.
pipes::PipeGraph by_one_network(pipes::PipeGraph graph) {
  for (pipes::Pipe& pipe : graph.pipes)
    if (pipe.outputs.size() == 1 && pipe.outputs.front().size() == 1 && !pipe.ethernet_pipe) pipe.incoming_noc = pipe.outgoing_noc = 0;
  return graph;
}

TEST(Networks, BusiestLinkIsNeverBusierThanBefore) {
  Rng rng(20);
  int compared = 0, relieved = 0;
  for (int round = 0; compared < 60 && round < 400; ++round) {
    const bool two_chips = round % 5 == 0;
    const pipes::Built b(pipes::random_netlist(rng, two_chips ? 2 : 1), two_chips ? "n300" : "wormhole_b0");
    if (!b.ok() || !build_blob(b.graph, *b.device, b.cluster())) continue;
    pipes::PipeGraph graph = by_one_network(b.graph);
    const std::uint64_t before = busiest_link(graph, b);
    balance_networks(*b.index, *b.device, graph);
    const std::uint64_t after = busiest_link(graph, b);
    EXPECT_LE(after, before) << "netlist " << round;
    EXPECT_EQ(b.check(graph), "") << "netlist " << round;
    relieved += after < before ? 1 : 0;
    ++compared;
  }
  EXPECT_EQ(compared, 60);
  EXPECT_GE(relieved, 10);
}

// Two ops with their queues, all in channel 0.
std::string two_readers(const std::string& ports) {
  std::string text = "devices: {arch: wormhole_b0}\nqueues:\n";
  for (const char* name : {"a", "b"})
    text +=
        cat("  ", name, ": {input: HOST, type: queue, entries: 2, grid_size: [1, 1], t: 1, mblock: [4, 4], ublock: [2, 2], df: Float16_b, ",
            "target_device: 0, loc: dram, dram: [[0, ", name[0] == 'a' ? "0x10000000" : "0x20000000", "]]", ports, "}\n");
  for (const char* name : {"x", "y"})
    text += cat("  out_", name, ": {input: ", name, ", type: queue, entries: 2, grid_size: [1, 1], t: 1, mblock: [4, 4], ublock: [2, 2], ",
                "df: Float16_b, target_device: 0, loc: dram, dram: [[1, ", name[0] == 'x' ? "0x10000000" : "0x20000000", "]]}\n");
  text += "graphs:\n  g:\n    target_device: 0\n    input_count: 1\n";
  for (const char* name : {"x", "y"})
    text += cat("    ", name, ": {type: nop, grid_loc: [4, ", name[0] == 'x' ? 4 : 5, "], grid_size: [1, 1], inputs: [",
                name[0] == 'x' ? "a" : "b",
                "], in_df: [Float16_b], acc_df: Float16_b, out_df: Float16_b, intermed_df: Float16_b, ublock_order: r, buf_size_mb: 2, ",
                "math_fidelity: HiFi3, untilize_output: false, t: 1, mblock: [4, 4], ublock: [2, 2]}\n");
  return text + "programs:\n  - p: [execute: {graph_name: g, queue_settings: {}}]\n";
}

TEST(Networks, PortsThatTheNetlistAsksForStay) {
  const pipes::Built free(two_readers("")), asked(two_readers(", read_ports: [1], write_ports: [1]"));
  ASSERT_EQ(free.problem, "");
  ASSERT_EQ(asked.problem, "");
  for (const char* name : {"a", "b"}) EXPECT_EQ(asked.buffer(name, pipes::BufferType::dram_io)->dram_sub_chan, 1) << name;
  const auto ways = [](const pipes::Built& b) {
    std::set<std::pair<std::int32_t, std::int32_t>> out;
    for (const char* name : {"x", "y"})
      out.emplace(b.buffer(name[0] == 'x' ? "a" : "b", pipes::BufferType::dram_io)->dram_sub_chan,
                  b.feeding(b.buffer(name, pipes::BufferType::unpacker)).front()->incoming_noc);
    return out;
  };
  EXPECT_EQ(ways(free).size(), 2u) << "both read through the same port and network";
}

// Bytes that flows move while the epoch runs, by link and port.
std::map<std::size_t, std::uint64_t> bytes_of_flows(const std::vector<Flow>& flows) {
  std::map<std::size_t, std::uint64_t> out;
  for (const Flow& flow : flows)
    for (const FlowWay& way : flow.ways)
      for (std::uint32_t part : way.parts) out[part] += way.bytes;
  return out;
}

TEST(Networks, FlowsMoveWhatLinksPortsAndMemoriesCarry) {
  Rng rng(21);
  int compared = 0;
  for (int round = 0; compared < 40 && round < 300; ++round) {
    const pipes::Built b(pipes::random_netlist(rng, 1), "wormhole_b0");
    if (!b.ok()) continue;
    const auto blob = build_blob(b.graph, *b.device, b.cluster());
    if (!blob) continue;
    const Traffic traffic = traffic_of(*blob, *b.device);
    std::map<std::size_t, std::uint64_t> moved = bytes_of_flows(flows_of(*blob, *b.device));
    for (const LinkLoad& l : traffic.links) {
      const bool is_x = l.from.y == l.to.y;
      const std::size_t number = pipes::link_number(l.noc, is_x ? pipes::NocAxis::x : pipes::NocAxis::y, l.from, b.device->noc);
      EXPECT_EQ(moved[number], l.bytes - l.before) << "netlist " << round;
    }
    for (const PortLoad& p : traffic.ports) {
      const std::size_t number = pipes::port_number(p.noc, p.input ? pipes::NocPort::input : pipes::NocPort::output, p.node, b.device->noc);
      EXPECT_EQ(moved[number], p.bytes - p.before) << "netlist " << round;
    }
    for (const ChannelLoad& c : traffic.channels) {
      if (c.host) continue;
      const std::uint64_t halves = moved[memory_part(*b.device, c.channel, false)] + moved[memory_part(*b.device, c.channel, true)];
      EXPECT_EQ(halves, c.read + c.written) << "netlist " << round;
    }
    ++compared;
  }
  EXPECT_EQ(compared, 40);
}

}  // namespace
}  // namespace buda::overlay
