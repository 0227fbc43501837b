// SPDX-License-Identifier: Apache-2.0
// SoC descriptors of TT-Buda.
#include <buda/device/load.hpp>

#include "unit/device/memory_host.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace buda::device {
namespace {

using ::testing::HasSubstr;

constexpr const char* kSoc = R"(grid:
  x_size: 5
  y_size: 6
arc: [0-2]
pcie: [0-4]
dram:
  [[1-0], [1-5, 2-5]]
eth: [0-0]
functional_workers:
  [1-1, 2-1, 1-2, 2-2, 1-3, 2-3]
harvested_workers: [1-4, 2-4]
router_only: [0-1]
worker_l1_size: 499136
dram_bank_size: 65536
eth_l1_size: 4096
arch_name: SMALL
features:
  unpacker: {version: 1}
)";

TEST(SocDescriptor, ReplacesTheGridOfItsArchitecture) {
  MemoryHost m;
  m.put("/share/devices/small.yaml", kSmallDevice);
  m.put("/chip.yaml", kSoc);
  auto device = load_device(m.host, "/chip.yaml");
  ASSERT_TRUE(device.ok()) << device.failure().diagnostics().front().message;
  EXPECT_EQ(device->grid(), (GridShape{3, 2}));
  EXPECT_EQ(device->noc, (NocSize{5, 6}));
  EXPECT_EQ(device->harvested_y, (std::vector<std::int32_t>{4}));
  EXPECT_EQ(device->dram.channels[1].ports[1], (NocCoord{2, 5}));
  EXPECT_EQ(device->dram.channels[1].lowest_usable, 0x100u);
  EXPECT_EQ(device->dram.bank_bytes, 65536u);
  EXPECT_EQ(device->l1.size, 499136u);
  EXPECT_EQ(device->eth_l1_bytes, 4096u);
  // What a SoC descriptor does not say comes from the architecture.
  EXPECT_EQ(device->arch, "grayskull");
  EXPECT_EQ(device->dest.tiles_16bit, 8);
}

TEST(SocDescriptor, AGridWithGapsIsRefused) {
  MemoryHost m;
  m.put("/share/devices/small.yaml", kSmallDevice);
  std::string text = kSoc;
  text.replace(text.find("1-3, 2-3]"), 9, "1-3]     ");
  m.put("/chip.yaml", text);
  auto device = load_device(m.host, "/chip.yaml");
  ASSERT_FALSE(device.ok());
  EXPECT_THAT(device.failure().diagnostics().front().message, HasSubstr("gaps"));
  EXPECT_EQ(device.failure().diagnostics().front().loc.line, 10u);
}

TEST(SocDescriptor, AnUnknownArchitectureIsRefused) {
  MemoryHost m;
  m.put("/share/devices/small.yaml", kSmallDevice);
  std::string text = kSoc;
  text.replace(text.find("SMALL"), 5, "SNALL");
  m.put("/chip.yaml", text);
  auto device = load_device(m.host, "/chip.yaml");
  ASSERT_FALSE(device.ok());
  EXPECT_EQ(device.failure().diagnostics().front().hint, "did you mean 'small'?");
}

TEST(SocDescriptor, UnknownKeysAndBadPlacesAreReportedTogether) {
  MemoryHost m;
  m.put("/share/devices/small.yaml", kSmallDevice);
  std::string text = kSoc;
  text.replace(text.find("router_only"), 11, "routers_onl");
  text.replace(text.find("[0-0]"), 5, "[0_0]");
  m.put("/chip.yaml", text);
  auto device = load_device(m.host, "/chip.yaml");
  ASSERT_FALSE(device.ok());
  EXPECT_EQ(device.failure().diagnostics().size(), 2u);
}

}  // namespace
}  // namespace buda::device
