// SPDX-License-Identifier: Apache-2.0
// What the keys of a buffer mean for its stream: where it is, how many tiles it holds, and in which windows they are sent. Tiles
// throughout. Internal to the module.
#pragma once

#include <buda/pipes/graph/pipe_graph.hpp>

#include <cstdint>

namespace buda::overlay {

using pipes::Buffer;
using pipes::BufferType;
using pipes::Id;
using pipes::Pipe;

// Between two pipes.
inline bool is_relay(const Buffer& b) { return b.type == BufferType::relay || b.type == BufferType::ethernet_relay; }

// On an Ethernet core: the other end of a link, or an operand of an op there.
inline bool is_on_ethernet(const Buffer& b) {
  return b.type == BufferType::ethernet_relay || (b.ethernet_chan && (b.type == BufferType::unpacker || b.type == BufferType::packer));
}

// Served by a stream that the kernel of an op reads, writes or accumulates in.
inline bool is_of_kernel(const Buffer& b) {
  return b.type == BufferType::unpacker || b.type == BufferType::packer || b.type == BufferType::intermediate ||
         b.type == BufferType::gradient_op;
}

// A count from a file that may be multiplied and allocated: from 0 to 2^40.
inline bool is_plausible_count(std::int64_t tiles) { return tiles >= 0 && tiles <= std::int64_t{1} << 40; }

// Tiles that pass through the buffer in the epoch.
inline std::int64_t epoch_tiles(const Buffer& b) { return b.epoch_tiles * (b.is_scatter ? b.replicate : 1); }

// The size of the buffer in L1.
std::int64_t buffer_tiles(const Buffer& b, const pipes::BufferIndex& buffers);

// Tiles of an output that one pass sends: a window of its buffer, or all of the epoch if that is less; at least 1.
std::int64_t output_window(const Buffer& b);

// Windows that the buffer holds: passes alternate between them. 1 for what is not an output.
std::int64_t windows_in_buffer(const Buffer& b, const pipes::BufferIndex& buffers);

// Refuses what is not supported (OV001) and counts that are not plausible (OV002).
class Violations;
void check_buffers(const pipes::PipeGraph& graph, Violations& violations);

}  // namespace buda::overlay
