// The ring of chips without ethernet.
#include <buda/pipes/peers.hpp>

#include <algorithm>

namespace buda::pipes {

std::optional<bool> stands_after(const netlist::Netlist& netlist, const device::Cluster& cluster, std::int32_t chip, std::int32_t other) {
  if (!cluster.peers) return std::nullopt;
  std::int32_t first = chip, last = chip;
  auto note = [&](std::int32_t c) { first = std::min(first, c), last = std::max(last, c); };
  for (const auto& q : netlist.queues) note(q.target_device);
  for (const auto& g : netlist.graphs) note(g.target_device);
  const std::int32_t after = chip < last ? chip + 1 : first, before = chip > first ? chip - 1 : last;
  if (other != after && other != before) return std::nullopt;
  return other == after;
}

std::optional<std::uint64_t> peer_address(const netlist::Netlist& netlist, const device::DeviceDescriptor& device,
                                          const device::Cluster& cluster, std::int32_t chip, std::int32_t other, std::uint64_t address) {
  const auto after = stands_after(netlist, cluster, chip, other);
  if (!after || !device.dram.host_window) return std::nullopt;
  return cluster.peers->region_bytes * (*after ? 2 : 1) + cluster.peers->offset + address % device.dram.host_window->size;
}

}  // namespace buda::pipes
