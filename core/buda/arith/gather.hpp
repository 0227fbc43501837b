// SPDX-License-Identifier: Apache-2.0
// Tensor manipulations of an edge, worked out once and then applied to every value that passes.
#pragma once

#include <buda/arith/precision.hpp>
#include <buda/arith/value.hpp>

#include <buda/netlist/model/tensor_maps.hpp>

#include <cstdint>
#include <variant>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::arith {

// What unpad, TMs and pad do to values of one shape. Copies whole runs of neighbouring tiles; nothing at all when the manipulations
// leave every tile in its place.
class Gather {
 public:
  // Fails as netlist::TileMap does, and when the result would have more than kMaxTiles tiles.
  static std::variant<Gather, netlist::MapError> make(const netlist::TileShape& producer, const netlist::EdgeMaps& maps);
  static constexpr std::int64_t kMaxTiles = std::int64_t{1} << 26;  // 256 GB of float32

  const netlist::TileShape& shape() const { return shape_; }
  bool identity() const { return identity_; }
  // Tiles copied for each value.
  std::int64_t tiles() const { return identity_ ? 0 : shape_.volume(); }

  // Padding is rounded to the value's format, as it is in the device's memory.
  ValuePtr apply(const ValuePtr& value, Mode mode, unsigned threads) const;
  // Matrix t of what apply() gives, alone.
  ValuePtr matrix(const ValuePtr& value, std::int64_t t, Mode mode, unsigned threads) const;

 private:
  // `count` tiles of one row of tiles, from tile `from` of the producer on (counted t, row, column), or padding.
  struct Run {
    std::int64_t from = 0;
    std::int32_t count = 0;
    bool padding = false;
    double pad_value = 0;
  };

  // Matrices `first_t` and on, as many as `out` has.
  ValuePtr gathered(const Value& value, std::int64_t first_t, std::int64_t count, Mode mode, unsigned threads) const;
  template <class T>
  void copy(const Value& in, Value& out, std::int64_t first_t, Mode mode, unsigned threads) const;

  netlist::TileShape in_;
  netlist::TileShape shape_;
  bool identity_ = false;
  bool transposed_ = false;  // the numbers of each tile are transposed
  std::vector<Run> runs_;
  std::vector<std::size_t> first_run_;  // of each row of tiles (t, r), and the end
};

}  // namespace buda::arith

#pragma GCC visibility pop
