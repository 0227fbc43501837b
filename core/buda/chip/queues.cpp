// SPDX-License-Identifier: Apache-2.0
// Addresses as the stream programs have them; queues that no epoch uses are where the netlist says.
#include <buda/chip/queues.hpp>

#include <buda/arith/tiles.hpp>
#include <buda/numerics/pack.hpp>
#include <buda/overlay/blob/blob.hpp>
#include <buda/pipes/plan/netlist_index.hpp>
#include <buda/tensor/formats/tile_layout.hpp>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace buda::chip {
namespace {

using arith::Value;
using netlist::Queue;

// Calls visit(number of the tile in the buffer, its first number in the value).
template <class Visit>
void for_tiles(const Queue& queue, std::size_t buffer, const Value& value, Visit visit) {
  for (std::int64_t n = 0; n < queue.block.tiles(); ++n) {
    const netlist::TileIndex tile =
        arith::tile_at(queue.grid, queue.block, queue.ublock_order, {static_cast<std::int64_t>(buffer), n}).tile;
    visit(static_cast<std::size_t>(n), static_cast<std::size_t>(tile.t) * value.matrix() +
                                           static_cast<std::size_t>(tile.r) * static_cast<std::size_t>(value.dim.rows) * value.cols() +
                                           static_cast<std::size_t>(tile.c) * static_cast<std::size_t>(value.dim.cols));
  }
}

std::size_t datum_bytes(const Queue& queue) { return static_cast<std::size_t>(bits_per_datum(queue.format)) / 8; }

}  // namespace

ChipQueues::ChipQueues(const netlist::Netlist& netlist, const std::vector<runtime::EpochStreams>& epochs,
                       const device::DeviceDescriptor& device, Bus& bus)
    : netlist_(netlist), bus_(bus), header_bytes_(device.queue_header_bytes), alignment_(device.tile_alignment) {
  std::map<pipes::Id, Buffer> known;
  for (const runtime::EpochStreams& epoch : epochs)
    for (const overlay::DramBuffer& d : epoch.blob->dram) known.emplace(d.id, Buffer{d.port, d.address});
  const pipes::NetlistIndex index(netlist);
  std::set<std::string> untilized;
  for (const netlist::Graph& graph : netlist.graphs)
    for (const netlist::Op& op : graph.ops)
      if (op.untilize_output) untilized.insert(op.name);
  for (std::size_t q = 0; q < netlist.queues.size(); ++q) {
    buffers_.emplace_back();
    rows_.push_back(untilized.count(netlist.queues[q].input) != 0);
    for (std::size_t b = 0; b < netlist.queues[q].buffers.size(); ++b) {
      const netlist::BufferAddress& place = netlist.queues[q].buffers[b];
      const auto& channels = device.dram.channels;
      Buffer buffer{device.pcie.value_or(device::NocCoord{}), place.address};
      if (netlist.queues[q].location == netlist::QueueLocation::dram)
        buffer.port = channels[static_cast<std::size_t>(place.channel) % channels.size()].ports.front();
      const auto found = known.find(index.queue_buffer(q, b));
      buffers_.back().push_back(found == known.end() ? buffer : found->second);
    }
  }
}

std::size_t ChipQueues::entry_bytes(std::size_t q) const {
  const Queue& queue = netlist_.queues[q];
  if (rows_[q])
    return static_cast<std::size_t>(queue.block.tiles()) * static_cast<std::size_t>(queue.tile_dim.rows * queue.tile_dim.cols) *
           datum_bytes(queue);
  return static_cast<std::size_t>(queue.block.tiles()) * static_cast<std::size_t>(tile_bytes(queue.format, queue.tile_dim, alignment_));
}

std::uint64_t ChipQueues::entry_address(std::size_t q, std::size_t buffer, std::int64_t slot) const {
  const Queue& queue = netlist_.queues[q];
  const std::int64_t at = slot % std::max(queue.entries, 1);
  return buffers_[q][buffer].address + static_cast<std::uint64_t>(header_bytes_) + static_cast<std::uint64_t>(at) * entry_bytes(q);
}

Result<void> ChipQueues::put(std::size_t q, std::int64_t slot, const Value& value) {
  const Queue& queue = netlist_.queues[q];
  const TileLayout layout{queue.format, queue.tile_dim, alignment_};
  std::string bytes(entry_bytes(q), '\0');
  for (std::size_t b = 0; b < buffers_[q].size(); ++b) {
    for_tiles(queue, b, value, [&](std::size_t n, std::size_t first) {
      char* tile = bytes.data() + n * layout.bytes();
      value.integer() ? pack_tile(layout, value.ints.data() + first, value.cols(), tile)
                      : pack_tile(layout, value.floats.data() + first, value.cols(), tile);
    });
    BUDA_TRY(bus_.write(buffers_[q][b].port, entry_address(q, b, slot), bytes));
  }
  return success();
}

Result<arith::ValuePtr> ChipQueues::get(std::size_t q, std::int64_t slot) {
  const Queue& queue = netlist_.queues[q];
  const TileLayout layout{queue.format, queue.tile_dim, alignment_};
  Value value(queue.shape(), queue.tile_dim, queue.format);
  std::string bytes(entry_bytes(q), '\0');
  for (std::size_t b = 0; b < buffers_[q].size(); ++b) {
    BUDA_TRY(bus_.read(buffers_[q][b].port, entry_address(q, b, slot), bytes.data(), bytes.size()));
    if (rows_[q]) {
      for (std::size_t n = 0; n < value.floats.size(); ++n) {
        std::uint32_t datum = 0;
        std::memcpy(&datum, bytes.data() + n * datum_bytes(queue), datum_bytes(queue));
        value.floats[n] = numerics::value_of_datum(queue.format, datum, 0);
      }
      continue;
    }
    for_tiles(queue, b, value, [&](std::size_t n, std::size_t first) {
      const char* tile = bytes.data() + n * layout.bytes();
      value.integer() ? unpack_tile(layout, tile, value.ints.data() + first, value.cols())
                      : unpack_tile(layout, tile, value.floats.data() + first, value.cols());
    });
  }
  return arith::ValuePtr(std::make_shared<const Value>(std::move(value)));
}

}  // namespace buda::chip
