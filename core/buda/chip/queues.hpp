// SPDX-License-Identifier: Apache-2.0
// Queues in the chip's memory: entries of the host's tensors as tiles there, and back. Internal to the module.
#pragma once

#include <buda/arith/value.hpp>
#include <buda/chip/bus.hpp>
#include <buda/netlist/model/netlist.hpp>
#include <buda/runtime/program.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace buda::chip {

class ChipQueues {
 public:
  // The netlist and the bus outlive it.
  ChipQueues(const netlist::Netlist& netlist, const std::vector<runtime::EpochStreams>& epochs, const device::DeviceDescriptor& device,
             Bus& bus);

  // `slot` is taken modulo the queue's entries. Rows of numbers are only read.
  Result<void> put(std::size_t queue, std::int64_t slot, const arith::Value& value);
  Result<arith::ValuePtr> get(std::size_t queue, std::int64_t slot);

 private:
  struct Buffer {
    device::NocCoord port;
    std::uint64_t address = 0;
  };
  // Where an entry begins in each buffer, and its bytes there.
  std::uint64_t entry_address(std::size_t queue, std::size_t buffer, std::int64_t slot) const;
  std::size_t entry_bytes(std::size_t queue) const;

  const netlist::Netlist& netlist_;
  Bus& bus_;
  std::int32_t header_bytes_, alignment_;
  std::vector<std::vector<Buffer>> buffers_;  // by queue, as in the netlist
  std::vector<bool> rows_;                    // by queue: it holds rows of numbers, since its writer leaves them so
};

}  // namespace buda::chip
