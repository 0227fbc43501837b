// SPDX-License-Identifier: Apache-2.0
// The transfer model is the device's: another device has other times.
#include <buda/cost/transfer_model.hpp>

#include <gtest/gtest.h>

namespace buda::cost {
namespace {

device::DeviceDescriptor two_by_three() {
  device::DeviceDescriptor out;
  out.workers = {{1, 2}, {1, 2, 3}};
  out.dram.channels.resize(2);
  out.cost.clock_ghz = 2;
  out.cost.dram_channel_gbs = 20;
  out.cost.eth_link_gbs = 6;
  out.cost.host_gbs = 4;
  out.cost.noc_bytes_per_cycle = 32;
  out.cost.transfers = {.link_rate = 30,
                        .interface_rate = 28,
                        .latency_cycles = 70,
                        .hop_cycles = 9,
                        .epoch_switch_cycles = 5000,
                        .kernel_bytes = 4000,
                        .stream_share = 0.5,
                        .shared_stream_share = 0.75,
                        .links_of_queues = 0.25};
  return out;
}

TEST(TransferModel, HasRatesInBytesPerCycle) {
  const device::DeviceDescriptor device = two_by_three();
  const TransferModel model(device);
  EXPECT_EQ(model.channel_rate(), 10);
  EXPECT_EQ(model.dram_rate(), 20);
  EXPECT_EQ(model.stream_rate(), 16);
  EXPECT_EQ(model.shared_stream_rate(), 24);
  EXPECT_EQ(model.queue_rate(), 8);
  EXPECT_EQ(model.ethernet_rate(), 3);
  EXPECT_EQ(model.host_rate(), 2);
}

TEST(TransferModel, HasLatenciesByLinks) {
  const device::DeviceDescriptor device = two_by_three();
  const TransferModel model(device);
  EXPECT_EQ(model.send_latency(3), 35 + 27);
  EXPECT_EQ(model.request_latency(3), 70 + 54);
  EXPECT_EQ(model.relayed_latency(3), 70 + 27);
}

TEST(TransferModel, LoadsKernelsAndProgramsThroughAllChannels) {
  const device::DeviceDescriptor device = two_by_three();
  const TransferModel model(device);
  EXPECT_EQ(model.epoch_change(0), 5000);
  EXPECT_EQ(model.epoch_change(1), 5200);
  EXPECT_EQ(model.epoch_change(2, 1000), 5500);
  EXPECT_EQ(model.epoch_change(2, 1000, 0), 500);
  EXPECT_EQ(model.full_epoch_change(), 5000 + 6 * 200);
}

TEST(TransferModel, DiffersWithTheDevice) {
  device::DeviceDescriptor other = two_by_three();
  other.cost.transfers.hop_cycles = 18;
  other.cost.transfers.epoch_switch_cycles = 100;
  other.dram.channels.resize(4);
  const TransferModel model(other);
  EXPECT_EQ(model.send_latency(3), 35 + 54);
  EXPECT_EQ(model.epoch_change(1), 200);
}

}  // namespace
}  // namespace buda::cost
