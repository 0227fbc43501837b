// SPDX-License-Identifier: Apache-2.0
// What streams take that meet others by chance on their ways.
#pragma once

#include <buda/balance/cost/epoch_loads.hpp>
#include <buda/device/descriptor.hpp>
#include <buda/overlay/flows.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace buda::balance {

// Of an epoch of so many inputs.
SharedWays shared_ways(const std::vector<overlay::Flow>& flows, std::int32_t chip, double inputs, const device::DeviceDescriptor& device);

// Lets the edges and outputs of `loads` take at least what their streams take beside all others. `kernels`: cycles of an input, by op.
void add_contention(EpochLoads& loads, const std::map<std::string, double>& kernels);

}  // namespace buda::balance
