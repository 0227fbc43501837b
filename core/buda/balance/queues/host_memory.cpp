// SPDX-License-Identifier: Apache-2.0
// Buffers in a row.
#include <buda/balance/queues/host_memory.hpp>

#include <buda/balance/queues/dram.hpp>
#include <buda/base/checked.hpp>
#include <buda/base/text.hpp>

#include <algorithm>

namespace buda::balance {
namespace {

// Bursts of DMA; data begin at a multiple, behind the header.
constexpr std::uint64_t kBurst = 64;

std::uint64_t channel_end(const device::HostMemory& host, std::int32_t channel) {
  const auto i = static_cast<std::size_t>(channel);
  const std::uint64_t reserved = i < host.reserved_bytes.size() ? host.reserved_bytes[i] : 0;
  return host.channel_bytes - std::min(reserved, host.channel_bytes);
}

std::uint64_t header_before_data(std::uint64_t address, std::uint64_t header) { return align_up(address + header, kBurst) - header; }

}  // namespace

Result<std::vector<netlist::BufferAddress>> allocate_on_host(const netlist::Queue& queue, const device::DeviceDescriptor& device,
                                                             HostPlace& next) {
  const auto header = static_cast<std::uint64_t>(device.queue_header_bytes);
  const std::uint64_t bytes = buffer_bytes(queue, device).value_or(std::uint64_t{1} << 62);
  std::vector<netlist::BufferAddress> out;
  HostPlace at = next;
  while (static_cast<std::int64_t>(out.size()) < queue.grid.volume() && at.channel < device.host.channels) {
    const std::uint64_t begin = header_before_data(at.address, header);
    if (begin + bytes > channel_end(device.host, at.channel)) {
      at = {at.channel + 1, 0};
      continue;
    }
    out.push_back({at.channel, begin});
    at.address = begin + bytes;
  }
  if (static_cast<std::int64_t>(out.size()) == queue.grid.volume()) {
    next = at;
    return out;
  }
  const std::uint64_t available = largest_on_host(device);
  return does_not_fit(
      "BL016", queue.name, "host", bytes, available,
      cat("queue '", queue.name, "': buffer ", out.size() + 1, " of ", queue.grid.volume(), " needs ", bytes,
          " bytes of the host's memory, of which the chip reaches ", device.host.channels, " channels with ", available, " bytes at most"),
      "fewer entries (--queue-entries), or queues in DRAM: without --input-queues-on-host and --output-queues-on-host");
}

std::uint64_t largest_on_host(const device::DeviceDescriptor& device) {
  std::uint64_t most = 0;
  for (std::int32_t i = 0; i < device.host.channels; ++i) most = std::max(most, channel_end(device.host, i));
  return most;
}

}  // namespace buda::balance
