// SPDX-License-Identifier: Apache-2.0
// Routes from chip to chip.
#include <buda/pipes/interchip/ring.hpp>
#include <buda/pipes/interchip/route_allocator.hpp>

#include "unit/pipes/built.hpp"

#include <set>

namespace buda::pipes {
namespace {

device::DeviceDescriptor mesh(std::int32_t chips) {
  device::DeviceDescriptor d = shipped("wormhole_b0");
  d.chips = chips;
  return d;
}

TEST(RouteAllocator, NeighboursUseAllLinksEqually) {
  RouteAllocator links(mesh(2), {});
  for (std::int32_t i = 0; i < 8; ++i) {
    auto route = links.allocate(0, 1);
    ASSERT_TRUE(route.has_value());
    ASSERT_EQ(route->size(), 1u);
    EXPECT_EQ(route->front(), (device::EthLink{0, 4 + i % 4, 1, 12 + i % 4}));
  }
  EXPECT_EQ(links.allocate(1, 0)->front(), (device::EthLink{1, 12, 0, 4}));
}

// Chips 0 1 2 3 over 7 6 5 4.
TEST(RouteAllocator, AroundTheCorner) {
  RouteAllocator links(mesh(8), {});
  std::set<std::int32_t> first;
  for (int i = 0; i < 8; ++i) {
    auto route = links.allocate(0, 5);
    ASSERT_TRUE(route.has_value());
    ASSERT_EQ(route->size(), 3u);
    for (std::size_t k = 1; k < 3; ++k) EXPECT_EQ((*route)[k].chip, (*route)[k - 1].to_chip);
    EXPECT_EQ(route->back().to_chip, 5);
    first.insert(route->front().to_chip);
  }
  EXPECT_EQ(first, (std::set<std::int32_t>{1, 7}));
}

TEST(RouteAllocator, EachChipOfAMeshIsANeighbourOfTheOneBeforeIt) {
  for (std::int32_t chips : {2, 6, 8, 12, 32, 33})
    for (std::int32_t chip = 1; chip < chips; ++chip)
      EXPECT_EQ(RouteAllocator(mesh(chips), {}).allocate(chip - 1, chip)->size(), 1u) << chips;
}

// 0 ═ 1 ═ 2 in a triangle, with one stream on each link.
device::Cluster triangle() {
  device::Cluster c;
  c.eth_core.link_streams = {9};
  c.links = {{0, 0, 1, 0}, {1, 1, 2, 1}, {0, 2, 2, 2}};
  return c;
}

TEST(RouteAllocator, DetourAroundASaturatedLink) {
  RouteAllocator links(mesh(3), triangle());
  EXPECT_EQ(links.allocate(0, 1)->size(), 1u);
  EXPECT_FALSE(links.allocate_shortest(0, 1).has_value());
  EXPECT_EQ(*links.free_streams(1, 0), 0);
  EXPECT_EQ(*links.free_streams(1, 1), 1);
  auto detour = links.allocate(0, 1);
  ASSERT_TRUE(detour.has_value());
  EXPECT_EQ(*detour, (ChipRoute{{0, 2, 2, 2}, {2, 1, 1, 1}}));
  EXPECT_FALSE(links.allocate(0, 1).has_value());
  EXPECT_TRUE(links.connected(0, 1));
  EXPECT_EQ(links.saturated_between(0, 1), (std::vector<device::EthLink>{{0, 0, 1, 0}, {0, 2, 2, 2}}));
}

// A line of four chips and a fifth beside the second: the link in the middle is saturated, and those at both ends are not.
TEST(RouteAllocator, SaturatedLinksInTheMiddle) {
  device::Cluster c;
  c.eth_core.link_streams = {9};
  c.links = {{0, 0, 1, 0}, {0, 3, 1, 3}, {1, 1, 2, 1}, {2, 2, 3, 2}, {2, 3, 3, 3}, {1, 4, 4, 4}};
  RouteAllocator links(mesh(5), c);
  EXPECT_TRUE(links.allocate(0, 3).has_value());
  EXPECT_FALSE(links.allocate(0, 3).has_value());
  EXPECT_EQ(*links.free_streams(0, 3), 1);
  const std::vector<device::EthLink> middle{{1, 1, 2, 1}};
  EXPECT_EQ(links.saturated_between(0, 3), middle);
  EXPECT_EQ(links.saturated_between(4, 3), middle);
  EXPECT_EQ(links.saturated_between(3, 0), (std::vector<device::EthLink>{{2, 1, 1, 1}})) << "written in the direction of travel";
  EXPECT_TRUE(links.allocate(2, 3).has_value());
  EXPECT_EQ(links.saturated_between(0, 3), middle) << "one link, rather than the two around chip 3";
  EXPECT_EQ(links.streams_per_link(), 1);
}

TEST(RouteAllocator, FromLinkToLink) {
  EXPECT_EQ(*RouteAllocator(mesh(3), triangle()).allocate_between(0, 2, 2, 2), (ChipRoute{{0, 2, 2, 2}}));
  EXPECT_EQ(*RouteAllocator(mesh(3), triangle()).allocate_between(0, 0, 2, 1), (ChipRoute{{0, 0, 1, 0}, {1, 1, 2, 1}}));
  RouteAllocator links(mesh(3), triangle());
  EXPECT_FALSE(links.allocate_between(0, 5, 2, 1).has_value()) << "no such link";
  EXPECT_FALSE(links.allocate_between(2, 1, 1, 0).has_value()) << "the route would use the last link twice";
  for (std::int32_t channel : {1, 2}) EXPECT_EQ(*links.free_streams(2, channel), 1) << "streams of routes that are not used are free";
  EXPECT_TRUE(links.allocate_between(1, 0, 0, 0).has_value());
  EXPECT_FALSE(links.allocate_between(0, 0, 1, 0).has_value());
  EXPECT_EQ(*links.free_streams(1, 0), 0);
}

TEST(EthernetLinks, ThoseThatCopiesNameComeBeforeTheMesh) {
  netlist::Netlist n;
  auto& graph = n.graphs.emplace_back();
  graph.ops.resize(2);
  graph.ops[0].name = "f";
  netlist::Op& copy = graph.ops[1];
  copy.type = netlist::OpType::ethernet_datacopy;
  copy.inputs.resize(1);
  copy.inputs[0].name = "f";
  copy.attributes.dest_device = 1;
  copy.attributes.ingress_channels = {8, 5};
  copy.attributes.egress_channels = {0, 1};
  EXPECT_EQ(available_links(n, mesh(2), {}),
            (std::vector<device::EthLink>{{0, 8, 1, 0}, {0, 5, 1, 1}, {0, 4, 1, 12}, {0, 6, 1, 14}, {0, 7, 1, 15}}));
  EXPECT_EQ(available_links(n, mesh(3), triangle()), triangle().links);
}

TEST(RouteAllocator, OnlyTheLinksOfTheBoard) {
  RouteAllocator links(shipped("n300"), shipped_cluster(shipped("n300")));
  EXPECT_EQ(links.allocate(0, 1)->front(), (device::EthLink{0, 8, 1, 0}));
  EXPECT_EQ(links.allocate(1, 0)->front(), (device::EthLink{1, 1, 0, 9}));
  device::DeviceDescriptor apart = mesh(3);
  device::Cluster one_link;
  one_link.links = {{0, 0, 1, 0}};
  EXPECT_FALSE(RouteAllocator(apart, one_link).allocate(0, 2).has_value());
  EXPECT_TRUE(RouteAllocator(apart, one_link).allocate(0, 0)->empty());
}

TEST(Ring, OnlyNeighboursInTheRing) {
  netlist::Netlist n;
  for (std::int32_t chip : {2, 0, 3, 1}) n.graphs.emplace_back().target_device = chip;
  const ChipRange ring = NetlistIndex(n).chips();
  const auto& gs = shipped("grayskull");
  const auto& cluster = shipped_cluster(gs);
  EXPECT_EQ(peer_address(ring, gs, cluster, 0, 1, 0x30000040), 0x80000000u + 0xc000000 + 0x40);
  EXPECT_EQ(peer_address(ring, gs, cluster, 1, 0, 0x30000040), 0x40000000u + 0xc000000 + 0x40);
  EXPECT_EQ(peer_address(ring, gs, cluster, 3, 0, 0x30000040), 0x80000000u + 0xc000000 + 0x40);
  EXPECT_FALSE(peer_address(ring, gs, cluster, 0, 2, 0x30000040).has_value());
  EXPECT_FALSE(peer_address(ring, shipped("wormhole_b0"), shipped_cluster(shipped("wormhole_b0")), 0, 1, 0x30000040).has_value());
}

}  // namespace
}  // namespace buda::pipes
