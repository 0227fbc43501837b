// Ways from chip to chip.
#include <buda/pipes/interchip/chip_routes.hpp>
#include <buda/pipes/interchip/ring.hpp>

#include "unit/pipes/built.hpp"

#include <set>

namespace buda::pipes {
namespace {

device::DeviceDescriptor mesh(std::int32_t chips) {
  device::DeviceDescriptor d = shipped("wormhole_b0");
  d.chips = chips;
  return d;
}

TEST(ChipRoutes, NextToEachOtherByEveryCableInTurn) {
  ChipRoutes routes(mesh(2), {});
  for (std::int32_t i = 0; i < 8; ++i) {
    auto way = routes.take(0, 1);
    ASSERT_TRUE(way.has_value());
    ASSERT_EQ(way->size(), 1u);
    EXPECT_EQ(way->front(), (device::EthLink{0, 4 + i % 4, 1, 12 + i % 4}));
  }
  EXPECT_EQ(routes.take(1, 0)->front(), (device::EthLink{1, 12, 0, 4}));
}

// Chips 0 1 2 3 over 7 6 5 4.
TEST(ChipRoutes, AroundTheCorner) {
  ChipRoutes routes(mesh(8), {});
  std::set<std::int32_t> first;
  for (int i = 0; i < 8; ++i) {
    auto way = routes.take(0, 5);
    ASSERT_TRUE(way.has_value());
    ASSERT_EQ(way->size(), 3u);
    for (std::size_t k = 1; k < 3; ++k) EXPECT_EQ((*way)[k].chip, (*way)[k - 1].to_chip);
    EXPECT_EQ(way->back().to_chip, 5);
    first.insert(way->front().to_chip);
  }
  EXPECT_EQ(first, (std::set<std::int32_t>{1, 7}));
}

TEST(ChipRoutes, EachChipOfAMeshIsNextToTheOneBeforeIt) {
  for (std::int32_t chips : {2, 6, 8, 12, 32, 33})
    for (std::int32_t chip = 1; chip < chips; ++chip) EXPECT_EQ(ChipRoutes(mesh(chips), {}).take(chip - 1, chip)->size(), 1u) << chips;
}

// 0 ═ 1 ═ 2 in a triangle, with one stream on each cable.
device::Cluster triangle() {
  device::Cluster c;
  c.eth_core.link_streams = {9};
  c.links = {{0, 0, 1, 0}, {1, 1, 2, 1}, {0, 2, 2, 2}};
  return c;
}

TEST(ChipRoutes, AroundACableThatIsFull) {
  ChipRoutes routes(mesh(3), triangle());
  EXPECT_EQ(routes.take(0, 1)->size(), 1u);
  EXPECT_FALSE(routes.take_shortest(0, 1).has_value());
  EXPECT_EQ(routes.room(1, 0)->left, 0);
  EXPECT_EQ(routes.room(1, 1)->left, 1);
  auto detour = routes.take(0, 1);
  ASSERT_TRUE(detour.has_value());
  EXPECT_EQ(*detour, (ChipWay{{0, 2, 2, 2}, {2, 1, 1, 1}}));
  EXPECT_FALSE(routes.take(0, 1).has_value());
  EXPECT_TRUE(routes.joined(0, 1));
  EXPECT_EQ(routes.full_between(0, 1), (std::vector<device::EthLink>{{0, 0, 1, 0}, {0, 2, 2, 2}}));
}

// A line of four chips and a fifth beside the second: the cable in the middle is full, and those at both ends are not.
TEST(ChipRoutes, CablesInTheMiddleThatAreFull) {
  device::Cluster c;
  c.eth_core.link_streams = {9};
  c.links = {{0, 0, 1, 0}, {0, 3, 1, 3}, {1, 1, 2, 1}, {2, 2, 3, 2}, {2, 3, 3, 3}, {1, 4, 4, 4}};
  ChipRoutes routes(mesh(5), c);
  EXPECT_TRUE(routes.take(0, 3).has_value());
  EXPECT_FALSE(routes.take(0, 3).has_value());
  EXPECT_EQ(routes.room(0, 3)->left, 1);
  const std::vector<device::EthLink> middle{{1, 1, 2, 1}};
  EXPECT_EQ(routes.full_between(0, 3), middle);
  EXPECT_EQ(routes.full_between(4, 3), middle);
  EXPECT_EQ(routes.full_between(3, 0), (std::vector<device::EthLink>{{2, 1, 1, 1}})) << "written in the direction of travel";
  EXPECT_TRUE(routes.take(2, 3).has_value());
  EXPECT_EQ(routes.full_between(0, 3), middle) << "one cable, rather than the two around chip 3";
  EXPECT_EQ(routes.streams_of_a_cable(), 1);
}

TEST(ChipRoutes, FromCableToCable) {
  EXPECT_EQ(*ChipRoutes(mesh(3), triangle()).take_between(0, 2, 2, 2), (ChipWay{{0, 2, 2, 2}}));
  EXPECT_EQ(*ChipRoutes(mesh(3), triangle()).take_between(0, 0, 2, 1), (ChipWay{{0, 0, 1, 0}, {1, 1, 2, 1}}));
  ChipRoutes routes(mesh(3), triangle());
  EXPECT_FALSE(routes.take_between(0, 5, 2, 1).has_value()) << "no such cable";
  EXPECT_FALSE(routes.take_between(2, 1, 1, 0).has_value()) << "the way would lead over the last cable twice";
  for (std::int32_t channel : {1, 2}) EXPECT_EQ(routes.room(2, channel)->left, 1) << "what is not taken is given back";
  EXPECT_TRUE(routes.take_between(1, 0, 0, 0).has_value());
  EXPECT_FALSE(routes.take_between(0, 0, 1, 0).has_value());
  EXPECT_EQ(routes.room(1, 0)->left, 0);
}

TEST(Cables, ThoseThatCopiesNameComeBeforeTheMesh) {
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
  EXPECT_EQ(cables_of(n, mesh(2), {}),
            (std::vector<device::EthLink>{{0, 8, 1, 0}, {0, 5, 1, 1}, {0, 4, 1, 12}, {0, 6, 1, 14}, {0, 7, 1, 15}}));
  EXPECT_EQ(cables_of(n, mesh(3), triangle()), triangle().links);
}

TEST(ChipRoutes, OnlyTheCablesOfTheBoard) {
  ChipRoutes routes(shipped("n300"), shipped_cluster(shipped("n300")));
  EXPECT_EQ(routes.take(0, 1)->front(), (device::EthLink{0, 8, 1, 0}));
  EXPECT_EQ(routes.take(1, 0)->front(), (device::EthLink{1, 1, 0, 9}));
  device::DeviceDescriptor apart = mesh(3);
  device::Cluster one_cable;
  one_cable.links = {{0, 0, 1, 0}};
  EXPECT_FALSE(ChipRoutes(apart, one_cable).take(0, 2).has_value());
  EXPECT_TRUE(ChipRoutes(apart, one_cable).take(0, 0)->empty());
}

TEST(Peers, OnlyNeighboursInTheRing) {
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
