// SPDX-License-Identifier: Apache-2.0
// Clusters: files of our own, descriptors of TT-Buda, and the mesh where nothing is said.
#include <buda/device/cluster.hpp>

#include "unit/device/memory_host.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace buda::device {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

DeviceDescriptor device_with(std::int32_t chips, std::size_t channels) {
  DeviceDescriptor d;
  d.name = "board";
  d.arch = "wormhole_b0";
  d.chips = chips;
  d.eth.resize(channels);
  return d;
}

constexpr const char* kOfArch = R"(schema: buda.cluster/1
eth_core: {operands_begin: 0x100, tile_headers: 0x80, overlay_blob: 64, streams: 8, link_streams: [1, 2]}
)";

class Clusters : public ::testing::Test {
 protected:
  Clusters() { m_.put("/share/clusters/wormhole_b0.yaml", kOfArch); }
  Result<Cluster> load(const std::string& text, std::int32_t chips = 2, std::size_t channels = 4) {
    m_.put("/mine.yaml", text);
    return load_cluster(m_.host, device_with(chips, channels), "/mine.yaml");
  }
  void expect_refused(const std::string& text, const std::string& code, std::uint32_t line) {
    auto c = load(text);
    ASSERT_FALSE(c.ok()) << text;
    const Diagnostic& d = c.failure().diagnostics().front();
    EXPECT_EQ(d.code, code) << d.message;
    EXPECT_EQ(d.loc.line, line) << d.message;
  }
  MemoryHost m_;
};

TEST_F(Clusters, OfOurOwnStartFromTheirBase) {
  auto c = load("schema: buda.cluster/1\nbase: wormhole_b0\nlinks: [{chip: 0, channel: 1, to_chip: 1, to_channel: 2}]\n");
  ASSERT_TRUE(c.ok());
  EXPECT_THAT(c->links, ElementsAre(EthLink{0, 1, 1, 2}));
  EXPECT_EQ(c->eth_core.streams, 8);
  EXPECT_EQ(chips_of(*c), 2);
}

constexpr const char* kOriginal = R"(chips: {
  0: [0,0,0,0],
  1: [1,0,0,0],
  2: [1,1,0,0],
}
ethernet_connections: [
  [{chip: 0, chan: 3}, {chip: 1, chan: 0}],
  [{chip: 1, chan: 1}, {chip: 2, chan: 1}],
  [{chip: 1, chan: 0}, {chip: 0, chan: 3}],
]
chips_with_mmio: [
  0,
]
harvesting: {0: {noc_translation: true, harvest_mask: 3}}
)";

TEST_F(Clusters, OfTheOriginalNameLinksThatMayBeListedTwice) {
  auto c = load(kOriginal);
  ASSERT_TRUE(c.ok()) << c.failure().diagnostics().front().message;
  EXPECT_THAT(c->links, ElementsAre(EthLink{0, 3, 1, 0}, EthLink{1, 1, 2, 1}));
  EXPECT_EQ(chips_of(*c), 3) << "more than the device was said to have";
  EXPECT_THAT(c->eth_core.link_streams, ElementsAre(1, 2)) << "ethernet cores are as the architecture has them";
}

TEST_F(Clusters, WhatIsWrongInOnesOfTheOriginalIsTold) {
  expect_refused("chips: {0: [0,0,0,0]}\nethernet_connections: [[{chip: 0, chan: 1}, {chip: 1, chan: 1}]]\n", "DV032", 2);
  expect_refused("chips: {}\nethernet_conections: []\nethernet_connections: []\n", "DV032", 2);
  expect_refused("ethernet_connections:\n  - [{chip: 0, chan: 1}]\n", "DV032", 2);
  expect_refused("ethernet_connections:\n  - [{chip: 0, chan: 1}, {chip: 1, channel: 1}]\n", "DV032", 2);
  expect_refused("ethernet_connections:\n  - [{chip: 0, chan: -1}, {chip: 1, chan: 1}]\n", "DV032", 2);
  expect_refused("ethernet_connections: {0: 1}\n", "DV032", 1);
  expect_refused("chips: {0: [], 1: []}\nethernet_connections:\n  - [{chip: 0, chan: 9}, {chip: 1, chan: 1}]\n", "DV030", 3);
}

TEST_F(Clusters, AChannelTakesOneLink) {
  expect_refused(
      "schema: buda.cluster/1\nlinks: [{chip: 0, channel: 1, to_chip: 1, to_channel: 2}, {chip: 0, channel: 1, to_chip: 1, to_channel: "
      "3}]\n",
      "DV031", 2);
  expect_refused("schema: buda.cluster/1\nlinks: [{chip: 1, channel: 1, to_chip: 1, to_channel: 2}]\n", "DV030", 2);
}

// 0 1 2
// 5 4 3
TEST(Mesh, RowsGoToAndFro) {
  EXPECT_THAT(links_of({}, device_with(6, 4)),
              ElementsAre(EthLink{0, 1, 1, 3}, EthLink{0, 0, 5, 2}, EthLink{1, 1, 2, 3}, EthLink{1, 0, 4, 2}, EthLink{2, 0, 3, 2},
                          EthLink{5, 1, 4, 3}, EthLink{4, 1, 3, 3}));
  EXPECT_TRUE(links_of({}, device_with(2, 0)).empty());
}

}  // namespace
}  // namespace buda::device
