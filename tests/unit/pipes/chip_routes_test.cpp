// Ways from chip to chip.
#include <buda/pipes/chip_routes.hpp>
#include <buda/pipes/peers.hpp>

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

// Chips 0 1 2 3 over 4 5 6 7.
TEST(ChipRoutes, AroundTheCorner) {
  ChipRoutes routes(mesh(8), {});
  std::set<std::int32_t> first;
  for (int i = 0; i < 4; ++i) {
    auto way = routes.take(0, 6);
    ASSERT_TRUE(way.has_value());
    ASSERT_EQ(way->size(), 3u);
    for (std::size_t k = 1; k < 3; ++k) EXPECT_EQ((*way)[k].chip, (*way)[k - 1].to_chip);
    EXPECT_EQ(way->back().to_chip, 6);
    first.insert(way->front().to_chip);
  }
  EXPECT_GE(first.size(), 1u);
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
  for (std::int32_t chip = 0; chip < 4; ++chip) n.graphs.emplace_back().target_device = chip;
  const auto& gs = shipped("grayskull");
  const auto& cluster = shipped_cluster(gs);
  EXPECT_EQ(peer_address(n, gs, cluster, 0, 1, 0x30000040), 0x80000000u + 0xc000000 + 0x40);
  EXPECT_EQ(peer_address(n, gs, cluster, 1, 0, 0x30000040), 0x40000000u + 0xc000000 + 0x40);
  EXPECT_EQ(peer_address(n, gs, cluster, 3, 0, 0x30000040), 0x80000000u + 0xc000000 + 0x40);
  EXPECT_FALSE(peer_address(n, gs, cluster, 0, 2, 0x30000040).has_value());
  EXPECT_FALSE(peer_address(n, shipped("wormhole_b0"), shipped_cluster(shipped("wormhole_b0")), 0, 1, 0x30000040).has_value());
}

}  // namespace
}  // namespace buda::pipes
