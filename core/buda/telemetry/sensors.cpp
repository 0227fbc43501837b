// SPDX-License-Identifier: Apache-2.0
// P = fixed + cores x (idle + GHz x per core x utilisation) + DRAM; temperatures rise in proportion to P.
#include <buda/telemetry/sensors.hpp>

#include <algorithm>

namespace buda::telemetry {
namespace {

// Clocks and voltage are those of the table of telemetry in the user guide of TT-SMI. The powers are assumed: they bring a Grayskull with
// 120 cores to 30 W when idle (the guide's table: 37 W) and boards under full load to between half and nine tenths of their published
// power.
constexpr double kCoreVolts = 0.80, kArcMhz = 540, kAxiMhz = 900;
constexpr double kFixedWatts = 10;              // of what is no core: NoC, PCIe, ARC
constexpr double kCoreIdleWatts = 0.15;         // of a core that waits
constexpr double kCoreWattsPerGhz = 0.95;       // more of a core that works, for each GHz
constexpr double kDramWattsPerGbs = 8 * 0.007;  // 7 pJ a bit, as of GDDR6
// Of the steady state: a load lasts milliseconds in simulated time, in which nothing would become warm.
constexpr double kInletCelsius = 25, kFullCoreCelsius = 70, kFullRegulatorCelsius = 75;
constexpr double kMaxCoreCelsius = 75, kMaxRegulatorCelsius = 90;

double cores_of(const device::DeviceDescriptor& device) {
  return static_cast<double>(device.grid().rows) * static_cast<double>(device.grid().cols);
}

double watts_of(const device::DeviceDescriptor& device, double utilisation, double dram_gbs) {
  return kFixedWatts + cores_of(device) * (kCoreIdleWatts + device.cost.clock_ghz * kCoreWattsPerGhz * utilisation) +
         kDramWattsPerGbs * dram_gbs;
}

double most_watts(const device::DeviceDescriptor& device) {
  return watts_of(device, 1, device.cost.dram_channel_gbs * static_cast<double>(device.dram.channels.size()));
}

}  // namespace

Readings readings_of(const device::DeviceDescriptor& device, double utilisation, double dram_gbs) {
  Readings out;
  const double watts = watts_of(device, utilisation, dram_gbs), load = watts / most_watts(device);
  out.core_volts = kCoreVolts;
  out.aiclk_mhz = device.cost.clock_ghz * 1000;
  out.arcclk_mhz = kArcMhz;
  out.axiclk_mhz = kAxiMhz;
  out.core_amps = watts / kCoreVolts;
  out.core_watts = watts;
  out.core_celsius = kInletCelsius + (kFullCoreCelsius - kInletCelsius) * load;
  out.regulator_celsius = kInletCelsius + (kFullRegulatorCelsius - kInletCelsius) * load;
  out.inlet_celsius = kInletCelsius;
  return out;
}

Limits limits_of(const device::DeviceDescriptor& device) {
  const double watts = most_watts(device);
  return {device.cost.clock_ghz * 1000, watts / kCoreVolts, watts, kMaxCoreCelsius, kMaxRegulatorCelsius};
}

Chip idle_chip(const device::DeviceDescriptor& device, std::int32_t id) {
  Chip out;
  out.id = id;
  out.mmio = std::find(device.mmio_chips.begin(), device.mmio_chips.end(), id) != device.mmio_chips.end();
  out.grid = device.grid();
  out.harvested_rows = device.harvested_y;
  out.dram_channels = static_cast<std::int32_t>(device.dram.channels.size());
  out.dram_channel_bytes = device.dram.bank_bytes;
  out.dram_channel_gbs = device.cost.dram_channel_gbs;
  out.host_gbs = device.cost.host_gbs;
  out.ethernet_channels = static_cast<std::int32_t>(device.eth.size());
  out.now = Activity{std::vector<double>(static_cast<std::size_t>(cores_of(device)), 0.0), 0, readings_of(device, 0, 0)};
  out.limits = limits_of(device);
  return out;
}

Telemetry idle_device(const device::DeviceDescriptor& device) {
  Telemetry out;
  out.device = device.name;
  out.arch = device.arch;
  out.clock_hz = device.cost.clock_ghz * 1e9;
  for (std::int32_t id = 0; id < device.chips; ++id) out.chips.push_back(idle_chip(device, id));
  return out;
}

}  // namespace buda::telemetry
