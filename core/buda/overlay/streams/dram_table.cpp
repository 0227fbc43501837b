// SPDX-License-Identifier: Apache-2.0
// Addresses and sizes of queue buffers.
#include <buda/overlay/streams/dram_table.hpp>

#include <buda/base/text.hpp>

namespace buda::overlay {
namespace {

std::int64_t entry_tiles(const EpochInput& in, const Buffer& b) {
  if (b.is_padding) return 1;
  if (b.type == BufferType::gradient_op) return buffer_tiles(b, in.buffers);
  return b.tiles_per_input > 0 ? b.tiles_per_input : b.window_tiles();
}

}  // namespace

device::NocCoord DramTable::port_of(const Buffer& b) {
  const device::DeviceDescriptor& device = in_.device;
  if (b.dram_io_flag_is_remote != 0) {
    if (!device.pcie)
      violations_.error("OV003", nullptr, &b,
                        cat("buffer_", b.id, " is in host memory, and device '", device.name, "' does not say where pcie is"));
    return device.pcie.value_or(device::NocCoord{});
  }
  const auto& channels = device.dram.channels;
  if (b.dram_chan < 0 || static_cast<std::size_t>(b.dram_chan) >= channels.size()) {
    violations_.error("OV010", nullptr, &b,
                      cat("buffer_", b.id, " is in DRAM channel ", b.dram_chan, "; '", device.name, "' has ", channels.size()));
    return {};
  }
  const auto& ports = channels[static_cast<std::size_t>(b.dram_chan)].ports;
  if (b.dram_sub_chan >= 0 && static_cast<std::size_t>(b.dram_sub_chan) < ports.size())
    return ports[static_cast<std::size_t>(b.dram_sub_chan)];
  violations_.error(
      "OV010", nullptr, &b,
      cat("buffer_", b.id, " is read at port ", b.dram_sub_chan, " of DRAM channel ", b.dram_chan, ", which has ", ports.size()));
  return {};
}

std::int32_t DramTable::index_of(const Buffer& b) {
  auto [it, fresh] = numbers_.emplace(b.id, static_cast<std::int32_t>(buffers_.size()));
  if (!fresh) return it->second;
  DramBuffer d;
  d.queue = b.op;
  d.id = b.id;
  d.chip = b.chip;
  d.channel = b.dram_chan;
  d.host = b.dram_io_flag_is_remote != 0;
  d.padding = b.is_padding;
  d.port = port_of(b);
  d.address = b.dram_addr;
  d.slots = b.q_slots;
  d.entry_tiles = entry_tiles(in_, b);
  d.tile_bytes = b.tile_size;
  d.ram = b.dram_ram_flag;
  buffers_.push_back(std::move(d));
  return it->second;
}

}  // namespace buda::overlay
