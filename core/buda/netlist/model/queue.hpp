// SPDX-License-Identifier: Apache-2.0
// Queues and rams: passive storage between epochs, and between host and device.
#pragma once

#include <buda/netlist/model/block_shape.hpp>
#include <buda/netlist/model/op_types.hpp>
#include <buda/netlist/model/source_location.hpp>
#include <buda/tensor/data_format.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::netlist {

inline constexpr std::string_view kHostInput = "HOST";

// One buffer of a queue: its channel of DRAM or of host memory, and the byte address of its header in that channel.
struct BufferAddress {
  std::int32_t channel = 0;
  std::uint64_t address = 0;
  friend bool operator==(const BufferAddress&, const BufferAddress&) = default;
};

struct Queue {
  std::string name;
  QueueKind kind = QueueKind::queue;
  std::string input{kHostInput};  // "HOST", an op, or a name with "net2net" in it: written from outside, like HOST
  std::vector<Tm> input_tms;      // on the way from the op into the queue
  std::int32_t entries = 0;       // slots; each holds one input of block.t
  GridShape grid{1, 1};           // of buffers
  BlockShape block;
  UblockOrder ublock_order = UblockOrder::r;
  DataFormat format = DataFormat::invalid;
  TileDim tile_dim;
  std::int32_t target_device = 0;
  std::vector<std::int32_t> instances;  // the chips of a netlist that is not expanded yet, if there are several; else empty
  QueueLocation location = QueueLocation::dram;
  std::vector<BufferAddress> buffers;                 // one per buffer, row by row
  std::vector<std::int32_t> read_ports, write_ports;  // empty, or one DRAM sub-channel per buffer
  QueueLayout layout = QueueLayout::tilized;
  std::string alias;  // another queue in the same memory; empty without
  SourceLocations places;

  bool from_outside() const { return input == kHostInput || input.find("net2net") != std::string::npos; }
  TileShape shape() const { return tensor_shape(grid, block); }
  friend bool operator==(const Queue&, const Queue&) = default;
};

}  // namespace buda::netlist

#pragma GCC visibility pop
