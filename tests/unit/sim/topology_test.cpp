// SPDX-License-Identifier: Apache-2.0
// Paths over the networks.
#include <buda/sim/network/topology.hpp>

#include "unit/pipes/built.hpp"

#include <set>

namespace buda::sim {
namespace {

overlay::Core core_at(std::int32_t x, std::int32_t y) {
  overlay::Core core;
  core.noc = {x, y};
  return core;
}

std::set<std::string> names(const Fabric& fabric, const Path& path) {
  std::set<std::string> out;
  for (ResourceId id : path.resources) out.insert(fabric.resources()[id].name);
  EXPECT_EQ(out.size(), path.resources.size()) << "each once";
  return out;
}

TEST(Topology, NetworksGoOppositeWays) {
  Fabric fabric;
  Topology topology(pipes::shipped("wormhole_b0"), fabric);
  const auto a = core_at(1, 1), b = core_at(2, 2);
  EXPECT_EQ(names(fabric, topology.send(a, 0, {&b})),
            (std::set<std::string>{"output of NoC 0 at 1-1", "NoC 0 1-1>2-1", "NoC 0 2-1>2-2", "input of NoC 0 at 2-2"}));
  EXPECT_EQ(names(fabric, topology.send(b, 1, {&a})),
            (std::set<std::string>{"output of NoC 1 at 2-2", "NoC 1 2-2>2-1", "NoC 1 2-1>1-1", "input of NoC 1 at 1-1"}));
}

TEST(Topology, MulticastsUseTheLinksOfTheirTreeOnce) {
  Fabric fabric;
  Topology topology(pipes::shipped("wormhole_b0"), fabric);
  const auto from = core_at(1, 1), near = core_at(2, 1), far = core_at(3, 1);
  const Path one = topology.send(from, 0, {&far}), both = topology.send(from, 0, {&near, &far});
  EXPECT_EQ(both.resources.size(), one.resources.size() + 1) << "one interface more";
  EXPECT_EQ(both.latency, one.latency) << "that of the farthest";
}

TEST(Topology, HalvesOfADramChannelServeByThemselves) {
  Fabric fabric;
  const auto& device = pipes::shipped("wormhole_b0");
  Topology topology(device, fabric);
  overlay::DramBuffer low, high;
  low.port = high.port = device.dram.channels[2].ports[0];
  low.channel = high.channel = 2;
  high.address = std::uint64_t{1} << 30;
  const auto to = core_at(1, 1);
  EXPECT_TRUE(names(fabric, topology.read(low, to, 0)).contains("DRAM 2 lower half"));
  EXPECT_TRUE(names(fabric, topology.write(to, high, 0)).contains("DRAM 2 upper half"));
}

}  // namespace
}  // namespace buda::sim
