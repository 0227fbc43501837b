// SPDX-License-Identifier: Apache-2.0
// Addresses in L1, and the sizes that depend on the space there: the result of the fourth step. Internal to the module.
#pragma once

#include <buda/overlay/blob/blob.hpp>
#include <buda/overlay/streams/per_stream.hpp>

#include <cstdint>
#include <vector>

namespace buda::overlay {

// As in Stream, whose members of the same names it becomes.
struct StreamBuffer {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;             // of transport buffers less than allocated, where L1 is short or chunks have to be whole
  std::int64_t read_chunk_tiles = 0;   // of DramRead; 0 without
  std::int64_t write_chunk_tiles = 0;  // of DramWrite or PcieWrite; 0 without
  std::uint64_t pcie_address = 0;      // of PcieWrite; 0 without

  std::int64_t tiles(std::int32_t tile_bytes) const { return static_cast<std::int64_t>(bytes) / tile_bytes; }
};

struct CoreLayout {
  std::int64_t program_bytes = 0;  // room for the stream program
  std::vector<TileHeaders> headers;
};

struct L1Layout {
  PerStream<StreamBuffer> streams;  // every stream of the allocation has an entry
  std::vector<CoreLayout> cores;
};

}  // namespace buda::overlay
