// Stretches of neighbouring tiles: the way of an edge's tensor back to its producer, many tiles at a time.
#pragma once

#include <buda/netlist/block_shape.hpp>
#include <buda/netlist/op_types.hpp>
#include <buda/netlist/tensor_maps.hpp>

#include <cstdint>
#include <variant>
#include <vector>

namespace buda::pipes {

// `count` tiles of a producer's tensor, one beside (or, `down`, one below) the other; or `count` tiles of padding.
struct Line {
  bool padding = false;
  netlist::TileIndex first;
  bool down = false;
  std::int64_t count = 0;
};

// The manipulations of one edge. What TileMap tells of single tiles this tells of lines; both are written from the definitions in
// tensor_maps.hpp, and the checker uses the other.
class LineMap {
 public:
  static std::variant<LineMap, netlist::MapError> make(const netlist::TileShape& producer, const netlist::EdgeMaps& maps);

  const netlist::TileShape& shape() const { return shape_; }  // of the result
  bool stacks() const { return stacks_; }                     // several ts of the producer meet in one t of the result
  bool pads() const { return pads_; }
  bool broadcasts() const { return broadcasts_; }

  // Where tile `at` of the result and its neighbours to the right come from: the longest line, of at most `count` tiles, that has a
  // single origin. `at` and `count` must stay within shape(). O(manipulations).
  Line line(netlist::TileIndex at, std::int64_t count) const;

 private:
  struct Step {
    netlist::TileShape in;
    netlist::Tm tm;
  };
  std::vector<Step> steps_;
  netlist::TileShape shape_;
  bool stacks_ = false, pads_ = false, broadcasts_ = false;
};

// `count` tiles that follow one another in the buffer of one core, from index `first` on; or padding (core -1).
struct Run {
  std::int32_t core = 0;  // row by row in the producer's grid
  std::int64_t first = 0;
  std::int64_t count = 0;
  friend auto operator<=>(const Run&, const Run&) = default;
};
inline constexpr std::int32_t kPaddingCore = -1;

// Runs in sequence; what continues the last run is added to it.
class RunList {
 public:
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

// How a tensor lies in the buffers of its producer: index = t * mblock tiles + ublock * ublock tiles + tile in the ublock, ublocks scanned
// in `order`, tiles of a ublock row by row.
struct ProducerLayout {
  GridShape grid{1, 1};
  netlist::BlockShape block;
  netlist::UblockOrder order = netlist::UblockOrder::r;

  netlist::TileShape shape() const { return netlist::tensor_shape(grid, block); }
  // Adds the runs of a line; `offset` is added to every index.
  void add_runs(const Line& line, std::int64_t offset, RunList& out) const;
};

}  // namespace buda::pipes
