// SPDX-License-Identifier: Apache-2.0
// What has arrived in an epoch, and where it belongs: for whoever computes values from tags.
#pragma once

#include <buda/netlist/model/op.hpp>
#include <buda/netlist/model/tensor_maps.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace buda::sim {

// Where tiles come from: a core's output or a buffer of a queue, by their number in the epoch.
using TileSource = std::uint32_t;
inline constexpr TileSource kPadding = 0xffffffff;  // equal tiles, which have no numbers
inline constexpr TileSource kUnknown = 0xfffffffe;

// Consecutive tiles of a source. Of an output they are counted over the epoch; of a queue entry after entry, from the first that the
// epoch reads.
struct TileRun {
  TileSource source = kUnknown;
  std::int64_t first = 0;
  std::int64_t count = 0;
  friend bool operator==(const TileRun&, const TileRun&) = default;
};

// Whether `next` continues `run`.
bool continues(const TileRun& run, const TileRun& next);

// Of a TileSource.
struct TileOrigin {
  const netlist::Op* op = nullptr;  // whose core it is; null for a buffer of a queue
  std::int64_t part = 0;            // the core or the buffer, row by row
};

struct ArrivedTiles {
  // A tile of a tensor, and which of the tiles that come for one input it is.
  struct Place {
    netlist::TileIndex tile;
    std::int64_t number = 0;
  };
  std::vector<Place> places;
  std::int64_t per_input = 0;  // tiles
  std::vector<TileRun> runs;   // in the order in which they have come

  void add(const TileRun& run);
};

// At a kernel's input: of the tensor that manipulations make.
struct InputArrivals : ArrivedTiles {
  const netlist::Op* op = nullptr;
  std::size_t operand = 0;
  bool kept = false;  // read before the epoch, for every input the same
};

// In a buffer of a queue: of its entry.
struct StoredArrivals : ArrivedTiles {
  std::string queue;
};

// Inputs that take rows, and queues that get rows or sums, are not among them.
struct Arrivals {
  std::vector<TileOrigin> origins;  // by TileSource
  std::deque<InputArrivals> inputs;
  std::deque<StoredArrivals> stored;
};

}  // namespace buda::sim
