// SPDX-License-Identifier: Apache-2.0
// A small device: two chips of two cores, one channel of DRAM.
#pragma once

#include <buda/device/descriptor.hpp>

namespace buda::telemetry {

inline device::DeviceDescriptor a_device() {
  device::DeviceDescriptor out;
  out.name = "small";
  out.arch = "wormhole_b0";
  out.chips = 2;
  out.mmio_chips = {0};
  out.workers = {{1, 2}, {1}};
  out.dram.channels.resize(1);
  out.dram.bank_bytes = 1 << 20;
  out.cost.clock_ghz = 1;
  out.cost.dram_channel_gbs = 10;
  return out;
}

}  // namespace buda::telemetry
