// SPDX-License-Identifier: Apache-2.0
// Where the tiles come from that a stream sends, writes, or hands to a kernel.
#pragma once

#include <buda/overlay/blob/blob.hpp>

#include <cstdint>

namespace buda::sim {

enum class Supply : std::uint8_t {
  kernel,    // the output of the core's kernel
  memory,    // DRAM or the host's memory, while the epoch runs
  kept,      // the same, read before: given again and again
  received,  // another stream
};

// `owner`: the stream in whose buffer the tiles are; of a fork the stream that it is a fork of, otherwise the stream itself.
inline Supply supply_of(const overlay::Stream& stream, const overlay::Stream& owner) {
  if (!stream.sources.empty()) return Supply::received;
  if (owner.read) return owner.read->before_epoch ? Supply::kept : Supply::memory;
  return Supply::kernel;
}

// Tiles that the stream's buffer has room for.
inline std::int64_t buffer_tiles(const overlay::Stream& stream) {
  return stream.message_bytes == 0 ? 0 : static_cast<std::int64_t>(stream.bytes) / stream.message_bytes;
}

}  // namespace buda::sim
