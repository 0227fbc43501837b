// SPDX-License-Identifier: Apache-2.0
// Where the tiles of an edge's tensor come from in its producer's tensor, a line of adjacent tiles at a time.
#pragma once

#include <buda/netlist/model/block_shape.hpp>
#include <buda/netlist/model/op_types.hpp>
#include <buda/netlist/model/tensor_maps.hpp>

#include <cstdint>
#include <variant>
#include <vector>

namespace buda::tiling {

// `count` adjacent tiles of a producer's tensor, along a row or (`down`) a column; or `count` tiles of padding.
struct Line {
  bool padding = false;
  netlist::TileIndex first;
  bool down = false;
  std::int64_t count = 0;
};

// The manipulations of one edge: TileMap (tensor_maps.hpp) for lines instead of single tiles. The two implementations are independent on
// purpose: the checker of pipes uses TileMap.
class LineMap {
 public:
  static std::variant<LineMap, netlist::MapError> make(const netlist::TileShape& producer, const netlist::EdgeMaps& maps);

  const netlist::TileShape& shape() const { return shape_; }  // of the result
  bool stacks() const { return stacks_; }                     // some manipulation joins several ts of its input into one
  bool pads() const { return pads_; }

  // Where tile `at` of the result and its right neighbours come from: the longest line, of at most `count` tiles, that is also a line
  // of the producer's tensor. `at` and `count` must stay within shape(). O(manipulations).
  Line line(netlist::TileIndex at, std::int64_t count) const;

 private:
  struct Step {
    netlist::TileShape in;
    netlist::Tm tm;
  };
  std::vector<Step> steps_;
  netlist::TileShape shape_;
  bool stacks_ = false, pads_ = false;
};

}  // namespace buda::tiling
