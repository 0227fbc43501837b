// SPDX-License-Identifier: Apache-2.0
// Loads of an epoch from what its streams move.
#pragma once

#include <buda/balance/cost/epoch_loads.hpp>
#include <buda/device/descriptor.hpp>
#include <buda/overlay/usage.hpp>

#include <cstdint>

namespace buda::balance {

// Of an epoch of `inputs` inputs. Bytes before and after the epoch count as a share of each input's.
EpochLoads loads_of(const overlay::EpochUsage& usage, std::int32_t chip, std::int64_t inputs, const device::DeviceDescriptor& device);

// Without streams: so many bytes for each input, spread over all channels.
EpochLoads loads_spread_evenly(double dram_bytes, const device::DeviceDescriptor& device);

}  // namespace buda::balance
