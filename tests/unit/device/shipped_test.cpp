// SPDX-License-Identifier: Apache-2.0
// The device files that ship: they load, and say what the boards' data sheets say.
#include <buda/device/label.hpp>
#include <buda/device/load.hpp>
#include <buda/diag/sink.hpp>
#include <buda/io/host.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <set>

namespace buda::device {
namespace {

class Shipped : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* source = std::getenv("BUDA_SOURCE_DIR");
    if (source == nullptr) GTEST_SKIP() << "BUDA_SOURCE_DIR is not set";
    host_.share_dir = std::string(source) + "/share";
  }
  DeviceDescriptor load(const std::string& name) {
    auto device = load_device(host_, name);
    EXPECT_TRUE(device.ok()) << (device.ok() ? "" : device.failure().diagnostics().front().message);
    return device.ok() ? *device : DeviceDescriptor{};
  }
  std::unique_ptr<io::FileSystem> fs_ = io::make_real_file_system();
  CollectingSink sink_;
  Host host_{*fs_, sink_};
};

TEST_F(Shipped, AllLoadUnderTheirNames) {
  std::set<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(host_.share_dir + "/devices")) files.insert(entry.path().stem());
  auto names = known_devices(host_);
  EXPECT_THAT(names, ::testing::ElementsAreArray(files));
  EXPECT_THAT(names, ::testing::Contains("n150")) << "the default device";
  for (const auto& name : names) EXPECT_EQ(load(name).name, name);
}

TEST_F(Shipped, GridsAreThoseOfTheBoards) {
  EXPECT_EQ(load("e75").grid(), (GridShape{8, 12}));
  EXPECT_EQ(load("e150").grid(), (GridShape{10, 12}));
  EXPECT_EQ(load("n150").grid().volume(), 72);
  EXPECT_EQ(load("n300").grid().volume() * load("n300").chips, 128);
  EXPECT_EQ(load("grayskull").grid(), (GridShape{10, 12}));
  EXPECT_EQ(load("wormhole_b0").grid(), (GridShape{10, 8}));
}

// The names of PyBuda's guide.
TEST_F(Shipped, NamesOfPyBudaMeanTheSameBoards) {
  for (const char* name : {"gs_e75", "gs_e150", "gs_e300", "wh_n150", "wh_n300"}) {
    EXPECT_EQ(load(name), load(std::string(name).substr(3))) << name;
    EXPECT_EQ(device_label(name), std::string(name).substr(3));
  }
  for (const char* wrong : {"gs_n150", "wh_e150", "gs_e151", "bh_n150"}) {
    auto device = load_device(host_, wrong);
    ASSERT_FALSE(device.ok()) << wrong;
    EXPECT_THAT(device.failure().diagnostics().front().message, ::testing::HasSubstr(std::string("device '") + wrong + "' is unknown"));
  }
}

// The guide's example: rows 1 and 11 of a Grayskull leave a grid of 8 x 12.
TEST_F(Shipped, RowsAreHarvestedByHand) {
  DeviceDescriptor d = load("gs_e150:harvested_rows=11,1");
  EXPECT_EQ(d.grid(), (GridShape{8, 12}));
  EXPECT_EQ(d.harvested_y, (std::vector<std::int32_t>{1, 11}));
  EXPECT_EQ(d.workers.y, (std::vector<std::int32_t>{2, 3, 4, 5, 7, 8, 9, 10}));
  EXPECT_EQ(d.name, "e150:harvested_rows=1,11");
  EXPECT_EQ(load(d.name), d);
  EXPECT_EQ(device_label("gs_e150:harvested_rows=[ 11, 1 ]"), d.name);
  // Instead of the row that the board lacks, not besides it.
  EXPECT_EQ(load("n150:harvested_rows=3").workers.y, (std::vector<std::int32_t>{1, 2, 4, 5, 7, 8, 9, 10, 11}));
  auto error = [&](const std::string& name) {
    auto device = load_device(host_, name);
    return device.ok() ? std::string("(no error)") : device.failure().diagnostics().front().message;
  };
  for (int row : {0, 6, 12})
    EXPECT_EQ(error("e150:harvested_rows=" + std::to_string(row)),
              "row " + std::to_string(row) + " of device 'e150' cannot be harvested: workers are in rows 1, 2, 3, 4, 5, 7, 8, 9, 10, 11");
  EXPECT_THAT(error("e150:harvested_rows=1;2"), ::testing::HasSubstr("'1;2' is not the number of a row"));
  EXPECT_THAT(error("e150:harvested_rows=1,2,3,4,5,7,8,9,10,11"), ::testing::HasSubstr("no workers left"));
  EXPECT_THAT(error(":harvested_rows=1"), ::testing::HasSubstr("without the device"));
}

TEST_F(Shipped, NothingStandsOnTwoPlaces) {
  for (const auto& name : known_devices(host_)) {
    DeviceDescriptor d = load(name);
    std::set<NocCoord> used(d.eth.begin(), d.eth.end());
    std::size_t count = d.eth.size();
    for (const auto& channel : d.dram.channels) {
      used.insert(channel.ports.begin(), channel.ports.end());
      count += channel.ports.size();
    }
    GridShape grid = d.grid();
    for (std::int32_t r = 0; r < grid.rows; ++r)
      for (std::int32_t c = 0; c < grid.cols; ++c) used.insert(d.noc_of_worker({r, c}));
    EXPECT_EQ(used.size(), count + static_cast<std::size_t>(grid.volume())) << name;
  }
}

TEST_F(Shipped, MemoriesAddUp) {
  auto total = [&](const std::string& name) {
    DeviceDescriptor d = load(name);
    return d.dram.bank_bytes * d.dram.channels.size() * static_cast<std::uint64_t>(d.chips) >> 30;
  };
  EXPECT_EQ(total("e75"), 8u);
  EXPECT_EQ(total("e150"), 8u);
  EXPECT_EQ(total("n150"), 12u);
  EXPECT_EQ(total("n300"), 24u);
}

TEST_F(Shipped, LogicalPlacesFollowTheDescriptors) {
  // Logical [7, 6] of Wormhole is x = 8, y = 9.
  EXPECT_EQ(load("wormhole_b0").noc_of_worker({7, 6}), (NocCoord{8, 9}));
  EXPECT_EQ(load("wormhole_b0").worker_at({8, 9}), (GridCoord{7, 6}));
  EXPECT_EQ(load("wormhole_b0").worker_at({5, 9}), std::nullopt);
}

TEST_F(Shipped, PeakRatesMatchTheDataSheets) {
  // Multiply-adds per cycle and core: 32^3 / cycles; twice that is flops. n150 at LoFi 295 TFLOPS, e150 at 1.2 GHz 295.
  DeviceDescriptor n150 = load("n150"), e150 = load("e150");
  auto tflops = [](const DeviceDescriptor& d) {
    return 2 * 32768 / d.cost.math_cycles_per_tile * d.cost.clock_ghz * static_cast<double>(d.grid().volume()) / 1000;
  };
  EXPECT_NEAR(tflops(n150), 295, 1);
  EXPECT_NEAR(tflops(e150), 295, 1);
}

}  // namespace
}  // namespace buda::device
