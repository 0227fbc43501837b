// SPDX-License-Identifier: Apache-2.0
// Looking devices up, bases, and what is wrong with a device file.
#include <buda/device/format.hpp>
#include <buda/device/load.hpp>
#include <buda/io/yaml.hpp>

#include "unit/device/memory_host.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace buda::device {
namespace {

using ::testing::HasSubstr;

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

Diagnostic first_error(MemoryHost& m, const std::string& name) {
  auto result = load_device(m.host, name);
  EXPECT_FALSE(result.ok());
  if (result.ok() || result.failure().diagnostics().empty()) return {};
  return result.failure().diagnostics().front();
}

TEST(LoadDevice, ReadsEveryPart) {
  MemoryHost m;
  m.put("/share/devices/small.yaml", kSmallDevice);
  auto device = load_device(m.host, "small");
  ASSERT_TRUE(device.ok()) << device.failure().diagnostics().front().message;
  EXPECT_EQ(device->grid(), (GridShape{2, 2}));
  EXPECT_EQ(device->noc_of_worker({1, 0}), (NocCoord{1, 3}));
  EXPECT_EQ(device->worker_at({2, 3}), (GridCoord{1, 1}));
  EXPECT_EQ(device->worker_at({2, 2}), std::nullopt);
  ASSERT_EQ(device->dram.channels.size(), 2u);
  EXPECT_EQ(device->dram.channels[0].lowest_usable, 0x100u);
  EXPECT_EQ(device->dram.channels[1].ports[1], (NocCoord{3, 0}));
  EXPECT_EQ(device->l1.operand_bytes(), 0xe00u);
  EXPECT_EQ(device->dest_tiles(DataFormat::float16_b), 8);
  EXPECT_EQ(device->dest_tiles(DataFormat::float32), 4);
  EXPECT_TRUE(device->supports(DataFormat::bfp8_b));
  EXPECT_FALSE(device->supports(DataFormat::int8));
  ASSERT_EQ(device->cost.kernels.size(), 2u);
  EXPECT_EQ(device->cost.kernels[0].math.tile, 20);
  EXPECT_FALSE(device->cost.kernels[0].origin.measured());
  EXPECT_EQ(device->cost.kernels[1].variant, "approx");
  EXPECT_EQ(device->cost.kernels[1].origin.error->p90, 2);
}

TEST(LoadDevice, WhatIsWrittenReadsBackEqual) {
  MemoryHost m;
  m.put("/share/devices/small.yaml", kSmallDevice);
  auto device = load_device(m.host, "small");
  ASSERT_TRUE(device.ok());
  m.put("/copy.yaml", io::yaml_block(schema::write(*device)));
  auto copy = load_device(m.host, "/copy.yaml");
  ASSERT_TRUE(copy.ok()) << copy.failure().diagnostics().front().message;
  EXPECT_EQ(*copy, *device);
}

TEST(LoadDevice, ABaseHoldsWhereTheFileSaysNothing) {
  MemoryHost m;
  m.put("/share/devices/small.yaml", kSmallDevice);
  m.put("/share/devices/smaller.yaml", "schema: buda.device/1\nbase: small\nname: smaller\nworkers: {y: [3]}\ncost: {clock_ghz: 2}\n");
  auto device = load_device(m.host, "smaller");
  ASSERT_TRUE(device.ok()) << device.failure().diagnostics().front().message;
  EXPECT_EQ(device->name, "smaller");
  EXPECT_EQ(device->grid(), (GridShape{1, 2}));
  EXPECT_EQ(device->cost.clock_ghz, 2);
  EXPECT_EQ(device->cost.noc_bytes_per_cycle, 32);
  EXPECT_EQ(device->arch, "grayskull");
  // Both files are dependencies.
  EXPECT_EQ(m.fs.files_read().count("/share/devices/small.yaml"), 1u);
  EXPECT_EQ(m.fs.files_read().count("/share/devices/smaller.yaml"), 1u);
}

TEST(LoadDevice, ABaseMayStandBesideAFileAnywhere) {
  MemoryHost m;
  m.put("/home/me/small.yaml", kSmallDevice);
  m.put("/home/me/mine.yaml", "schema: buda.device/1\nbase: ./small.yaml\nname: mine\n");
  auto device = load_device(m.host, "/home/me/mine.yaml");
  ASSERT_TRUE(device.ok()) << device.failure().diagnostics().front().message;
  EXPECT_EQ(device->name, "mine");
}

TEST(LoadDevice, AnUnknownNameGetsAHintAndTheList) {
  MemoryHost m;
  m.put("/share/devices/n150.yaml", kSmallDevice);
  m.put("/share/devices/e75.yaml", kSmallDevice);
  Diagnostic d = first_error(m, "n15O");
  EXPECT_EQ(d.code, "DV002");
  EXPECT_THAT(d.message, HasSubstr("known are e75, n150"));
  EXPECT_EQ(d.hint, "did you mean 'n150'?");
}

TEST(LoadDevice, NamesAreNoPaths) {
  MemoryHost m;
  m.put("/share/devices/small.yaml", kSmallDevice);
  EXPECT_EQ(first_error(m, "").code, "DV002");
  EXPECT_FALSE(load_device(m.host, "/nowhere/x.yaml").ok());
}

TEST(LoadDevice, CircularBasesEnd) {
  MemoryHost m;
  m.put("/share/devices/a.yaml", "schema: buda.device/1\nbase: b\n");
  m.put("/share/devices/b.yaml", "schema: buda.device/1\nbase: a\n");
  Diagnostic d = first_error(m, "a");
  EXPECT_EQ(d.code, "DV003");
  EXPECT_EQ(d.loc, (SourceLoc{"/share/devices/b.yaml", 2, 7}));
}

TEST(LoadDevice, UnknownKeysAreErrorsWithAPlace) {
  MemoryHost m;
  m.put("/share/devices/small.yaml", replaced(kSmallDevice, "dest: {tiles_16bit: 8", "dest: {tiles_16bits: 8"));
  Diagnostic d = first_error(m, "small");
  EXPECT_EQ(d.loc.line, 10u);
  EXPECT_THAT(d.message, HasSubstr("tiles_16bits"));
  EXPECT_THAT(d.hint, HasSubstr("tiles_16bit"));
}

struct Bad {
  const char* from;
  const char* to;
  const char* code;
  const char* words;
};

class BadDevice : public ::testing::TestWithParam<Bad> {};

TEST_P(BadDevice, IsRefused) {
  MemoryHost m;
  m.put("/share/devices/small.yaml", replaced(kSmallDevice, GetParam().from, GetParam().to));
  Diagnostic d = first_error(m, "small");
  EXPECT_EQ(d.code, GetParam().code);
  EXPECT_THAT(d.message, HasSubstr(GetParam().words));
  EXPECT_EQ(d.loc.file, "/share/devices/small.yaml");
  EXPECT_GT(d.loc.line, 0u);
}

INSTANTIATE_TEST_SUITE_P(Rules, BadDevice,
                         ::testing::Values(Bad{"buda.device/1", "buda.device/2", "SC007", "buda.device/1"},
                                           Bad{"x: [1, 2]", "x: [2, 1]", "DV011", "ascending"},
                                           Bad{"x: [1, 2]", "x: [1, 4]", "DV011", "inside the NoC"},
                                           Bad{"x: [1, 2]", "x: []", "DV011", "workers"}, Bad{"y: 4}", "y: 100000}", "DV011", "256"},
                                           Bad{"[0-0]", "[0-7]", "DV012", "0-7"}, Bad{"[0-0]", "[00]", "DV001", "3-11"},
                                           Bad{"lowest_usable: 0x100", "lowest_usable: 0x1000", "DV012", "channel 0"},
                                           Bad{"operands_begin: 0x200", "operands_begin: 0x1000", "DV013", "no room"},
                                           Bad{"tile_alignment: 32", "tile_alignment: 48", "DV014", "power of two"},
                                           Bad{"formats: [Float16_b, Bfp8_b]", "formats: []", "DV014", "formats"},
                                           Bad{"name: small", "name: small\nchips: 0", "DV010", "chips"},
                                           Bad{"source: a guess", "source: ''", "DV015", "kernels: exp"},
                                           Bad{"rows: 3, error: {mean: 1, p90: 2}", "rows: 3", "DV015", "kernels: exp"},
                                           Bad{"source: a guess", "source: a guess, error: {mean: 1, p90: 2}", "DV015", "kernels: exp"},
                                           Bad{", origin: {source: a guess}", "", "SC003", "origin"},
                                           Bad{"name: small", "name: small\nmmio_chips: [1]", "DV010", "chip 1 of 1"},
                                           Bad{"name: small", "name: small\nharvested_y: [3]", "DV011", "row 3"},
                                           Bad{"name: small", "name: small\nharvested_y: [99]", "DV011", "the NoC grid has rows 0 to"},
                                           Bad{"name: small", "name: small\nharvested_y: [-1]", "DV011", "row -1"},
                                           Bad{"name: small", "name: small\nharvested_y: [0, 0]", "DV011", "row 0 twice"},
                                           Bad{"name: small", "name: small\nhost: {channels: -1}", "DV012", "host"}));

TEST(LoadDevice, AnUnknownFormatIsNamed) {
  MemoryHost m;
  m.put("/share/devices/small.yaml", replaced(kSmallDevice, "Bfp8_b]", "Bfp8b]"));
  Diagnostic d = first_error(m, "small");
  EXPECT_EQ(d.loc, (SourceLoc{"/share/devices/small.yaml", 11, 22}));
  EXPECT_THAT(d.message + d.hint, HasSubstr("Bfp8_b"));
}

}  // namespace
}  // namespace buda::device
