// SPDX-License-Identifier: Apache-2.0
// Tags: which tile a message is. Messages carry no values.
#pragma once

#include <buda/sim/tiles/arrivals.hpp>
#include <buda/sim/tiles/ring.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace buda::sim {

// Tiles in a buffer, in order.
class TileFifo {
 public:
  void push(const TileRun& run);
  bool empty() const { return runs_.empty(); }
  // Up to `most` of the tiles in front, as far as they are one run. There must be some.
  TileRun take(std::int64_t most);

 private:
  Ring<TileRun> runs_;
};

// What must arrive at a kernel's input or a queue, input after input.
struct ExpectedTiles {
  std::vector<TileRun> runs;   // of the first input
  std::int64_t per_input = 0;  // added to the numbers from input to input
};

// Compares what arrives with what must.
class TileCheck {
 public:
  explicit TileCheck(ExpectedTiles expected);

  struct Wrong {
    TileRun came, expected;   // of one tile each
    std::int64_t input = 0;   // of the graph
    std::int64_t number = 0;  // of the tile, in what that input takes
  };
  std::optional<Wrong> arrives(TileRun run);
  std::int64_t tiles() const { return tiles_; }              // that have arrived
  std::int64_t input_tiles() const { return input_tiles_; }  // of one input

 private:
  ExpectedTiles expected_;
  std::size_t run_ = 0;      // in expected_.runs
  std::int64_t within_ = 0;  // tiles of that run that have come
  std::int64_t input_ = 0, number_ = 0, tiles_ = 0, input_tiles_ = 0;
};

}  // namespace buda::sim
