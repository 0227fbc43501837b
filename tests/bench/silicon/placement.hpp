// SPDX-License-Identifier: Apache-2.0
// Bandwidth of DRAM with twelve cores, one for each half of Wormhole's channels, by where the cores are.
#pragma once

#include "varied_fabric.hpp"

#include <buda/device/descriptor.hpp>

#include <string>
#include <vector>

namespace buda::silicon {

struct PlacementSpeed {
  std::string name;
  double measured = 0, predicted = 0;  // 1e9 bytes per second
  double tolerance = 0;                // per cent
  double error() const { return 100 * (predicted / measured - 1); }
  bool reached() const { return error() <= tolerance && error() >= -tolerance; }
};

// The device is a Wormhole.
std::vector<PlacementSpeed> placement_speeds(const device::DeviceDescriptor& device, const FabricChange& change = {});
std::string placement_table(const std::vector<PlacementSpeed>& speeds);

}  // namespace buda::silicon
