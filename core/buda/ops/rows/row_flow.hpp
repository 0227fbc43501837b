// SPDX-License-Identifier: Apache-2.0
// Where the rows of a model's inputs lie in a value that is computed from them.
//
// A batch has `batch` rows along the first axis of the inputs. Ops move that axis, make it longer and join it with others; as long as it
// can be told which elements come from which row, the axis is seen as three, of which the middle one counts the rows:
//
//   index along the axis = (o * batch + row) * inner + i       0 <= o < outer, 0 <= i < inner
//
// So a reshape from [8, 16, 32] to [128, 32] leaves 16 consecutive places to each of 8 rows, and back.
#pragma once

#include <buda/graph/graph.hpp>
#include <buda/ops/table/op.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace buda::ops {

struct RowFlow {
  enum class Kind : std::uint8_t {
    free,   // depends on no row
    rows,   // each element depends on one row, which its index along `axis` tells
    whole,  // of a batch of one row: depends on that row, and no axis stands for it
    mixed,  // elements depend on several rows, or on which row of the batch it is
  };
  Kind kind = Kind::free;
  std::size_t axis = 0;
  std::int64_t outer = 1, inner = 1;
  graph::NodeId mixer = {};  // the first op that mixed them

  bool is_free() const { return kind == Kind::free; }
  bool has_rows() const { return kind == Kind::rows; }
  friend bool operator==(const RowFlow&, const RowFlow&) = default;
};

// One op with what its rule reads. All inputs are free or have rows, and one at least has rows.
struct RowCall {
  const graph::Graph& graph;
  const graph::Node& node;
  Attrs attrs;
  std::int64_t batch;
  std::vector<RowFlow> flows;  // of the inputs
  std::vector<Shape> shapes;
  std::vector<Shape> results;

  RowFlow mixed() const { return {RowFlow::Kind::mixed, 0, 1, 1, node.id()}; }
  // It is not known which rows a result depends on: for a batch of one row it is that row.
  RowFlow unclear() const { return batch == 1 ? RowFlow{RowFlow::Kind::whole, 0, 1, 1, {}} : mixed(); }
  RowFlow at(std::size_t axis, const RowFlow& like) const { return {RowFlow::Kind::rows, axis, like.outer, like.inner, {}}; }
  std::size_t resolved(std::int64_t dim, std::size_t rank) const {
    return static_cast<std::size_t>(dim < 0 ? dim + static_cast<std::int64_t>(rank) : dim);
  }
  std::size_t dim(std::size_t rank) const { return resolved(attrs.integer("dim"), rank); }
};

}  // namespace buda::ops
