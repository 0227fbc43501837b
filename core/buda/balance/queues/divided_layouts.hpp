// SPDX-License-Identifier: Apache-2.0
// Buffers of queues divided, so that channels of DRAM share what an epoch reads from them.
#pragma once

#include <buda/balance/queues/queue_loads.hpp>
#include <buda/tiling/tile_layout.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace buda::balance {

// Layouts of the same tensor in which each buffer is divided into 2 to `most`: along its rows, or along its columns.
std::vector<tiling::TileLayout> divided_layouts(const tiling::TileLayout& layout, std::int64_t most);

// What an epoch moves through a bank (dram.hpp), and what of it it reads, were all banks equal.
class EpochMeans {
 public:
  // Epochs that read less than `least` bytes are left out.
  EpochMeans(const std::vector<QueueUse>& uses, std::size_t banks, std::uint64_t least);

  // Of the busiest buffer of a queue in the epoch where it counts most: how much of the mean it is. So count the busiest buffers of the
  // turns in which an op reads the queue (BufferTurn), together.
  double busiest_share(const QueueUse& use) const;

 private:
  struct Mean {
    double all = 0, read = 0;
  };
  std::map<std::int32_t, Mean> means_;  // by epoch
};

}  // namespace buda::balance
