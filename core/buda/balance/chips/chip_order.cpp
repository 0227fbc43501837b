// SPDX-License-Identifier: Apache-2.0
// Numbers of chips, checked and sorted.
#include <buda/balance/chips/chip_order.hpp>

#include <buda/base/text.hpp>

#include <algorithm>

namespace buda::balance {
namespace {

Diagnostic no_such_chip(const std::string& wish, const device::DeviceDescriptor& device) {
  const std::string there = device.chips == 1 ? "1 chip, 0" : cat(device.chips, " chips, 0 to ", device.chips - 1);
  return usage_error("BL050", cat(wish, "; ", device.name, " has ", there));
}

}  // namespace

Result<std::vector<std::int32_t>> chips_in_order(const ChipOptions& options, const device::DeviceDescriptor& device) {
  const auto is_mmio = [&](std::int32_t chip) {
    return std::find(device.mmio_chips.begin(), device.mmio_chips.end(), chip) != device.mmio_chips.end();
  };
  std::vector<std::int32_t> out;
  if (options.ids.empty() && options.count == 1) return std::vector{device.mmio_chips.empty() ? 0 : device.mmio_chips.front()};
  if (options.count > device.chips) return no_such_chip(cat("the model is to use ", options.count, " chips"), device);
  for (std::int64_t id : options.ids) {
    if (id < 0 || id >= device.chips) return no_such_chip(cat("the model is to use chip ", id), device);
    out.push_back(static_cast<std::int32_t>(id));
  }
  const std::int64_t count = options.count == 0 ? device.chips : options.count;
  for (std::int32_t chip = 0; options.ids.empty() && chip < count; ++chip) out.push_back(chip);
  std::sort(out.begin(), out.end());
  if (auto twice = std::adjacent_find(out.begin(), out.end()); twice != out.end())
    return usage_error("BL050", cat("chip ", *twice, " is named twice"));
  if (options.order == ChipOrder::mmio_last)
    std::stable_partition(out.begin(), out.end(), [&](std::int32_t chip) { return !is_mmio(chip); });
  return out;
}

}  // namespace buda::balance
