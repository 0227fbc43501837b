// SPDX-License-Identifier: Apache-2.0
// Regions of L1.
#include <buda/overlay/l1/l1_map.hpp>

#include <algorithm>

namespace buda::overlay {
namespace {

constexpr std::uint64_t kTrackingBytes = 36;

}  // namespace

device::L1Map l1_map_of(const Core& core, const device::DeviceDescriptor& device, const device::EthCore& eth_core) {
  device::L1Map l1 = device.l1;
  if (!core.ethernet) return l1;
  l1.size = device.eth_l1_bytes;
  l1.operands_begin = eth_core.operands_begin;
  l1.tile_headers = eth_core.tile_headers;
  l1.overlay_blob_default = l1.overlay_blob_included = static_cast<std::uint64_t>(std::max<std::int64_t>(eth_core.overlay_blob, 0));
  return l1;
}

std::int64_t tracked_buffers(const Stream& stream, bool reads_pcie) {
  std::int64_t buffers = reads_pcie ? 1 : 0;
  if (stream.read && !stream.read->before_epoch) buffers += static_cast<std::int64_t>(stream.read->buffers.size());
  if ((stream.write && !stream.write->after_epoch) || stream.pcie) ++buffers;
  return buffers;
}

std::uint64_t tracking_bytes(std::int64_t buffers, const device::DeviceDescriptor& device) {
  const std::int64_t in_private_memory = std::max(device.streams.max_dram_input_queues, 0) + 1;
  return static_cast<std::uint64_t>(std::max<std::int64_t>(buffers - in_private_memory, 0)) * kTrackingBytes;
}

std::uint64_t excess_program_bytes(std::int64_t program_bytes, const device::L1Map& l1) {
  const auto bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(program_bytes, 0));
  return bytes > l1.overlay_blob_included ? bytes - l1.overlay_blob_included : 0;
}

}  // namespace buda::overlay
