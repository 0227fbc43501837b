// SPDX-License-Identifier: Apache-2.0
// Look-ups in a device descriptor.
#include <buda/device/descriptor.hpp>

#include <buda/base/text.hpp>

#include <algorithm>

namespace buda::device {
namespace {

std::optional<std::int32_t> position(const std::vector<std::int32_t>& sorted, std::int32_t value) {
  auto it = std::lower_bound(sorted.begin(), sorted.end(), value);
  if (it == sorted.end() || *it != value) return std::nullopt;
  return static_cast<std::int32_t>(it - sorted.begin());
}

}  // namespace

CostParameters::CostParameters() = default;
CostParameters::CostParameters(const CostParameters&) = default;
CostParameters::CostParameters(CostParameters&&) noexcept = default;
CostParameters& CostParameters::operator=(const CostParameters&) = default;
CostParameters& CostParameters::operator=(CostParameters&&) noexcept = default;
CostParameters::~CostParameters() = default;

DeviceDescriptor::DeviceDescriptor() = default;
DeviceDescriptor::DeviceDescriptor(const DeviceDescriptor&) = default;
DeviceDescriptor::DeviceDescriptor(DeviceDescriptor&&) noexcept = default;
DeviceDescriptor& DeviceDescriptor::operator=(const DeviceDescriptor&) = default;
DeviceDescriptor& DeviceDescriptor::operator=(DeviceDescriptor&&) noexcept = default;
DeviceDescriptor::~DeviceDescriptor() = default;

std::string NocCoord::text() const { return cat(x, '-', y); }

std::optional<GridCoord> DeviceDescriptor::worker_at(NocCoord c) const {
  auto row = position(workers.y, c.y);
  auto col = position(workers.x, c.x);
  if (!row || !col) return std::nullopt;
  return GridCoord{*row, *col};
}

std::int32_t DeviceDescriptor::dest_tiles(DataFormat acc) const {
  // Raw 32-bit words pass through in the 16-bit layout.
  return acc == DataFormat::float32 || acc == DataFormat::int32 ? dest.tiles_32bit : dest.tiles_16bit;
}

bool DeviceDescriptor::supports(DataFormat format) const { return std::find(formats.begin(), formats.end(), format) != formats.end(); }

}  // namespace buda::device
