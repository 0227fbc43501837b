// SPDX-License-Identifier: Apache-2.0
// Tile layout: which core's buffer holds a tile, and at which index.
#pragma once

#include <buda/netlist/model/block_shape.hpp>
#include <buda/netlist/model/op.hpp>
#include <buda/netlist/model/op_types.hpp>
#include <buda/netlist/model/queue.hpp>
#include <buda/netlist/model/tensor_maps.hpp>

#include <cstdint>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::tiling {

struct Line;  // line_map.hpp

// `count` consecutive tiles of one core's buffer, from index `first` on; or padding (core kPaddingCore, index without meaning).
struct Run {
  std::int32_t core = 0;  // row-major in the producer's grid
  std::int64_t first = 0;
  std::int64_t count = 0;
  friend auto operator<=>(const Run&, const Run&) = default;
};
inline constexpr std::int32_t kPaddingCore = -1;

// A sequence of runs in which no run continues the one before it.
class RunList {
 public:
  // Appends a run, or lengthens the last one by it.
  void add(Run run) {
    tiles_ += run.count;
    if (!runs_.empty()) {
      Run& last = runs_.back();
      if (last.core == run.core && (run.core == kPaddingCore || last.first + last.count == run.first)) {
        last.count += run.count;
        return;
      }
    }
    runs_.push_back(run);
  }
  const std::vector<Run>& runs() const { return runs_; }
  std::int64_t tiles() const { return tiles_; }
  bool empty() const { return runs_.empty(); }
  friend auto operator<=>(const RunList&, const RunList&) = default;

 private:
  std::vector<Run> runs_;
  std::int64_t tiles_ = 0;
};

// How a tensor lies in the buffers of an op's cores or of a queue (netlist format, "blocks"): each core or buffer of `grid` has a part of
// t matrices; index = t * mblock tiles + ublock * ublock tiles + tile in the ublock, where ublocks are numbered in `order` and the tiles of
// a ublock row by row.
struct TileLayout {
  GridShape grid{1, 1};
  netlist::BlockShape block;
  netlist::UblockOrder order = netlist::UblockOrder::r;
  std::int64_t buffered_t = 1;  // matrices (mblocks) that a buffer makes visible at once: all t of a queue, half of the buffer of an op

  netlist::TileShape shape() const { return netlist::tensor_shape(grid, block); }
  std::int64_t window_tiles() const { return buffered_t * block.mblock_tiles(); }
  // Adds the runs of a line; `offset` is added to every index. O(runs).
  void add_runs(const Line& line, std::int64_t offset, RunList& out) const;
  friend bool operator==(const TileLayout&, const TileLayout&) = default;
};

TileLayout layout_of(const netlist::Queue& queue);
// The output of an op that processes `input_count` inputs in an epoch.
TileLayout layout_of(const netlist::Op& op, std::int64_t input_count);

}  // namespace buda::tiling

#pragma GCC visibility pop
