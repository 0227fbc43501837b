// SPDX-License-Identifier: Apache-2.0
// Which chips of a device a model uses, and in which order it goes through them.
#pragma once

#include <buda/device/descriptor.hpp>
#include <buda/diag/result.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::balance {

// mmio_last: the host reaches the last ones directly, since they make the model's outputs. snake: by number; where a device has links of
// its own by default, each chip is then connected to the one before it.
enum class ChipOrder : std::uint8_t { mmio_last, snake };
inline constexpr std::string_view kChipOrders[] = {"MMIO_LAST", "SNAKE"};  // by ChipOrder

struct ChipOptions {
  std::int64_t count = 1;         // 0: all of the device
  std::vector<std::int64_t> ids;  // empty: the first `count`
  ChipOrder order = ChipOrder::mmio_last;
};

// BL050: a device that has fewer chips, a chip twice. Without options the first chip that the host reaches directly.
Result<std::vector<std::int32_t>> chips_in_order(const ChipOptions& options, const device::DeviceDescriptor& device);

}  // namespace buda::balance

#pragma GCC visibility pop
