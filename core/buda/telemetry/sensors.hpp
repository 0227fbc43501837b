// SPDX-License-Identifier: Apache-2.0
// What the sensors of a simulated chip would show: power and temperature from activity. Simple, stated, and the same on every machine;
// docs/formats/telemetry.md has the formulas.
#pragma once

#include <buda/device/descriptor.hpp>
#include <buda/telemetry/telemetry.hpp>

namespace buda::telemetry {

// Of a chip whose cores work this part of the time, on average, and whose DRAM moves so many 1e9 bytes per second.
Readings readings_of(const device::DeviceDescriptor& device, double utilisation, double dram_gbs);

// What the readings come to when all cores and all channels work all the time, and the temperatures that coolers are made for.
Limits limits_of(const device::DeviceDescriptor& device);

// The device with nothing at work: all chips idle.
Telemetry idle_device(const device::DeviceDescriptor& device);
// A chip of it.
Chip idle_chip(const device::DeviceDescriptor& device, std::int32_t id);

}  // namespace buda::telemetry
