// SPDX-License-Identifier: Apache-2.0
// The streams of an epoch as flows: over which links, ports and memories each moves how many bytes, one way after the other.
#pragma once

#include <buda/device/descriptor.hpp>
#include <buda/overlay/blob/blob.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace buda::overlay {

// Of one request for tiles of a queue, and how many requests of a reader are under way at once.
std::int64_t tiles_of_request(const DramRead& read);
std::int64_t requests_under_way(const DramRead& read);

// From a memory or a core to others, or to memory.
struct FlowWay {
  std::vector<std::uint32_t> parts;  // of the chip: links and ports by their numbers, then halves of channels, then the host's memory
  std::uint64_t bytes = 0;
  std::int64_t requests = 0;  // for which a reader waits
  std::int64_t hops = 0;      // links from end to end
  friend bool operator==(const FlowWay&, const FlowWay&) = default;
};

// What moves at one time over one way: a stream that reads, writes or multicasts, or all streams that one receives from.
struct Flow {
  enum class Kind : std::uint8_t { read, sent, written };
  std::int32_t chip = 0;
  Kind kind = Kind::sent;
  std::string op;             // of the core that it is for; empty without one
  std::int32_t operand = -1;  // of what is read: for which input of the op, also by way of others; -1: for none
  bool is_output = false;     // of what is written: whether it is the op's result
  double transfers = 1;       // that are under way at once
  std::vector<FlowWay> ways;  // one after the other, over and over
  friend bool operator==(const Flow&, const Flow&) = default;
};

// What a chip's flows pass through: `parts` of them have these numbers.
std::size_t memory_part(const device::DeviceDescriptor& device, std::int32_t channel, bool upper);
std::size_t host_part(const device::DeviceDescriptor& device);
inline std::size_t part_count(const device::DeviceDescriptor& device) { return host_part(device) + 1; }

// While the epoch runs. What leaves a chip is left out. O(phases, and hops of streams).
std::vector<Flow> flows_of(const Blob& blob, const device::DeviceDescriptor& device);

}  // namespace buda::overlay
