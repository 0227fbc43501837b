// SPDX-License-Identifier: Apache-2.0
// Images run on devices of the kind that they were made for, and on no others.
#include <buda/device/load.hpp>
#include <buda/diag/sink.hpp>
#include <buda/image/device_match.hpp>
#include <buda/io/host.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace buda::image {
namespace {

using testing::HasSubstr;

class DeviceMatch : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* source = std::getenv("BUDA_SOURCE_DIR");
    if (source == nullptr) GTEST_SKIP() << "BUDA_SOURCE_DIR is not set";
    host_.share_dir = std::string(source) + "/share";
  }
  device::DeviceDescriptor load(const std::string& name) {
    auto device = device::load_device(host_, name);
    EXPECT_TRUE(device.ok()) << (device.ok() ? "" : device.failure().diagnostics().front().message);
    return device.ok() ? *device : device::DeviceDescriptor{};
  }
  std::string verdict(const device::DeviceDescriptor& made_for, const device::DeviceDescriptor& device) {
    auto same = check_same_device(made_for, device, "m.tti");
    if (same) return "same";
    std::string out;
    for (const auto& d : same.failure().diagnostics()) out += d.code + ": " + d.message + "\n";
    return out;
  }
  std::string verdict(const std::string& made_for, const std::string& device) { return verdict(load(made_for), load(device)); }
  std::unique_ptr<io::FileSystem> fs_ = io::make_real_file_system();
  CollectingSink sink_;
  Host host_{*fs_, sink_};
};

TEST_F(DeviceMatch, EachDeviceMatchesItself) {
  for (const auto& name : device::known_devices(host_)) EXPECT_EQ(verdict(name, name), "same") << name;
  EXPECT_EQ(verdict("gs_e150", "e300"), "same") << "one chip without harvested rows";
}

TEST_F(DeviceMatch, DifferencesAreNamedWithBothValues) {
  EXPECT_EQ(verdict("n150", "e150"), "IM010: the image was made for architecture wormhole_b0, device 'e150' has grayskull\n");
  EXPECT_THAT(verdict("e150", "e75"), HasSubstr("IM011: the image was made for a grid of workers of [10, 12], device 'e75' has [8, 12]"));
  device::DeviceDescriptor small = load("n150");
  small.dram.bank_bytes /= 2;
  small.host.channels = 1;
  EXPECT_EQ(verdict(load("n150"), small),
            "IM012: the image was made for DRAM channels of 2 GiB, device 'n150' has 1 GiB\n"
            "IM012: the image was made for this number of host channels: 4, device 'n150' has 1\n");
}

// The mask of the guide: rows 1 and 11 are 2 + 2048.
TEST_F(DeviceMatch, MaskOfHarvestedRows) {
  EXPECT_EQ(harvest_mask(load("e150:harvested_rows=1,11")), 2050);
  EXPECT_EQ(harvest_mask(load("e150")), 0);
}

TEST_F(DeviceMatch, GrayskullNeedsTheSameRows) {
  EXPECT_EQ(verdict("e150:harvested_rows=1,11", "e75:harvested_rows=1,11"), "same");
  EXPECT_EQ(verdict("e150:harvested_rows=1,11", "e75"),
            "IM013: the image was made for harvested rows [1, 11] (mask 2050), device 'e75' has [10, 11] (mask 3072)\n");
  // Rows that a descriptor names without anybody's hand count there, too.
  device::DeviceDescriptor other = load("e75");
  other.harvested_y = {2, 3};
  EXPECT_THAT(verdict(load("e75"), other), HasSubstr("IM013"));
}

TEST_F(DeviceMatch, WormholeNeedsTheSameNumberUnlessRowsWereSetByHand) {
  device::DeviceDescriptor other = load("n150");
  other.harvested_y = {3};
  EXPECT_EQ(verdict(load("n150"), other), "same") << "its coordinates hide which row it is";
  EXPECT_THAT(verdict("n150:harvested_rows=3", "n150"),
              HasSubstr("IM013: the image was made for harvested rows [3] (mask 8), device 'n150' has [11]"));
  EXPECT_THAT(verdict("n150", "n150:harvested_rows=3"), HasSubstr("IM013"));
  EXPECT_EQ(verdict("n150:harvested_rows=3", "wh_n150:harvested_rows=3"), "same");
}

}  // namespace
}  // namespace buda::image
