// SPDX-License-Identifier: Apache-2.0
// Names, addresses and roles of streams.
#include <buda/overlay/blob/yaml_source.hpp>

#include <buda/base/text.hpp>

namespace buda::overlay {

std::string YamlSource::name(StreamRef r) const {
  const Core& c = core(r.core);
  return cat("chip_", c.chip, "__y_", c.noc.y, "__x_", c.noc.x, "__stream_id_", r.stream);
}

std::uint64_t YamlSource::noc_address(device::NocCoord port, std::uint64_t address) const {
  const auto node = static_cast<std::uint64_t>(port.y) << 6 | static_cast<std::uint64_t>(port.x);
  return (node << device.noc_address_bits) | address;
}

bool YamlSource::firmware_sends(const Core& from, const Stream& s) const {
  return s.firmware && s.sends() && core(s.destinations.front().first.core).chip != from.chip;
}

std::optional<RowReading> YamlSource::rows_of(const Stream& s) const {
  const pipes::Buffer* source = s.read ? buffers.find(dram(s.read->buffers.front().dram).id) : nullptr;
  return source != nullptr ? row_reading(*s.read, *source, buffers.find(s.buffer)) : std::nullopt;
}

bool YamlSource::is_scattered_store(const Stream& s) const {
  if (s.kind != StreamKind::store) return false;
  const pipes::Buffer* b = buffers.find(s.buffer);
  return b != nullptr && b->is_scatter;
}

bool moves_pointers(const Stream& s) {
  return s.bytes == 0 || s.messages() / s.iterations * s.message_bytes % static_cast<std::int64_t>(s.bytes) != 0;
}

}  // namespace buda::overlay
