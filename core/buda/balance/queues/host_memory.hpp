// SPDX-License-Identifier: Apache-2.0
// Where queues lie in the memory of the host that the chip reaches by DMA.
#pragma once

#include <buda/device/descriptor.hpp>
#include <buda/diag/result.hpp>
#include <buda/netlist/model/queue.hpp>

#include <cstdint>
#include <vector>

namespace buda::balance {

// What is taken of the host's memory: all channels before this one, and its first bytes.
struct HostPlace {
  std::int32_t channel = 0;
  std::uint64_t address = 0;
};

// The addresses of all buffers of a queue, one after the other from `next` on, which moves behind them; a buffer lies within one channel.
// BL016: the host's memory is full.
Result<std::vector<netlist::BufferAddress>> allocate_on_host(const netlist::Queue& queue, const device::DeviceDescriptor& device,
                                                             HostPlace& next);

// The largest buffer that a channel could take; 0 where the chip reaches no memory of the host.
std::uint64_t largest_on_host(const device::DeviceDescriptor& device);

}  // namespace buda::balance
