// SPDX-License-Identifier: Apache-2.0
// How TT-Buda's firmware is told of queues that hold rows instead of tiles: it knows rows by their numbers and finds the pieces itself.
#pragma once

#include <buda/overlay/blob/blob.hpp>
#include <buda/pipes/graph/pipe_graph.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace buda::overlay {

struct RowReading {
  bool looks_up = false;
  std::int64_t columns = 0;           // of pieces, that the core takes
  std::int64_t rows_per_column = 0;   // before the next column
  std::int64_t row_bytes = 0;         // of the whole buffer
  std::int64_t first_byte = 0;        // of the buffer's part that the core takes; rows are counted from there
  std::int64_t tiles_per_chunk = 0;   // what the kernel sees of one read
  std::int64_t rows_per_pass = 0;     // each counted once; of a table those that are looked up for one input
  std::vector<std::uint64_t> blocks;  // first row of each block, each once; arithmetic progressions of them are shortened. None of a table
  std::int64_t block_count = 0;       // before that
};

// Nothing where the read brings tiles. `source` is the buffer that it reads, `target` the one that it fills, if the pipegen file has it.
std::optional<RowReading> row_reading(const DramRead& read, const pipes::Buffer& source, const pipes::Buffer* target);

}  // namespace buda::overlay
