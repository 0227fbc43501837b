// SPDX-License-Identifier: Apache-2.0
// Memory of the queues of several models on one device.
#pragma once

#include <buda/device/descriptor.hpp>
#include <buda/diag/result.hpp>
#include <buda/netlist/model/netlist.hpp>

#include <cstdint>
#include <string>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::image {

struct MemoryOptions {
  bool switch_channels = true;  // a buffer for which its channel has no room goes to another one
  bool overlap_dynamic = true;  // dynamic queues of different models share memory, since models take turns
};

// The netlist of one model, whose buffers get new addresses.
struct MemoryOfModel {
  std::string name;
  netlist::Netlist* netlist = nullptr;
};

// Bytes in use, each byte counted once however many queues share it: by channel, of each chip and of the host memory that it reaches.
struct MemoryProfile {
  struct Chip {
    std::vector<std::uint64_t> dram, host;
  };
  std::vector<Chip> chips;
};

// Gives every buffer an address, so that queues that may hold data at the same time share no byte. Dynamic queues (those that programs
// allocate) come first, from the lowest usable address on: of each model in blocks that keep their buffers' places relative to each other,
// because queues of one model may lie over each other when they are never there together. With `overlap_dynamic` the models' blocks lie
// over each other, without it behind each other. All other buffers follow, largest first, each in its channel; those that find no room
// there go to the channel with the most room when `switch_channels` allows it. Aliases follow the ram that they are of. What does not fit
// is an error IM030 with the model, channel, what was needed and what was there, and the option that would help.
Result<void> place_queues(const std::vector<MemoryOfModel>& models, const device::DeviceDescriptor& device, const MemoryOptions& options);

MemoryProfile memory_profile(const netlist::Netlist& netlist, const device::DeviceDescriptor& device);

// The guide's form: "Displaying memory footprint per DRAM channel (MB):", then "0 : 161.17" for each channel; a MB is 2^20 bytes.
std::string memory_profile_text(const MemoryProfile& profile);

}  // namespace buda::image

#pragma GCC visibility pop
