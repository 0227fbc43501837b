// SPDX-License-Identifier: Apache-2.0
// The ring of chips without ethernet.
#include <buda/pipes/interchip/ring.hpp>

namespace buda::pipes {

std::optional<bool> is_next_in_ring(const ChipRange& ring, const device::Cluster& cluster, std::int32_t chip, std::int32_t other) {
  if (!cluster.peers) return std::nullopt;
  const std::int32_t after = chip < ring.last ? chip + 1 : ring.first, before = chip > ring.first ? chip - 1 : ring.last;
  if (other != after && other != before) return std::nullopt;
  return other == after;
}

std::optional<std::uint64_t> peer_address(const ChipRange& ring, const device::DeviceDescriptor& device, const device::Cluster& cluster,
                                          std::int32_t chip, std::int32_t other, std::uint64_t address) {
  const auto after = is_next_in_ring(ring, cluster, chip, other);
  if (!after || !device.dram.host_window) return std::nullopt;
  return cluster.peers->region_bytes * (*after ? 2 : 1) + cluster.peers->offset + address % device.dram.host_window->size;
}

}  // namespace buda::pipes
