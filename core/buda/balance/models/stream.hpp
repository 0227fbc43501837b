// Streaming along t: a result is divided into parts of fewer rows or columns, which pass through the op's grid one after the other.
//
// An op that streams holds a part of its result in L1 instead of all of it. In the netlist its t is `parts` times as large: part i of
// matrix z is its matrix z * parts + i. Who reads it puts the parts together again by a stack before the other manipulations of the edge,
// and an op that streams cuts its inputs by a slice after them. Where both stream alike, stack and slice cancel out.
//
// The result of a sparse matmul lies otherwise. A part holds the same rows of all T slices below one another, as (parts, T * R / parts, C):
// products then read the activations from top to bottom (sparse_models.hpp).
#pragma once

#include <buda/netlist/model/op.hpp>
#include <buda/netlist/model/tensor_maps.hpp>

#include <cstdint>
#include <string>
#include <variant>

namespace buda::balance {

enum class StreamDirection : std::uint8_t { none, r, c };

struct Stream {
  StreamDirection direction = StreamDirection::none;
  std::int32_t parts = 1;
  friend bool operator==(const Stream&, const Stream&) = default;
};

// A result as its op holds it: how it streams, and the T slices that each part of a sparse matmul's result holds; 1 for any other op.
struct HeldResult {
  Stream stream;
  std::int32_t slices = 1;
};

// The shape of `logical` (t, rt, ct) when it is held so. The parts must divide it.
netlist::TileShape held_shape(const netlist::TileShape& logical, const HeldResult& held);

// Which parts of an operand each part of the result needs.
enum class StreamedOperand : std::uint8_t {
  rows_and_columns,  // its own rows or columns: of elementwise ops, reductions, biases
  rows,              // the same rows, all columns: the left operand of a matmul
  columns,           // the same columns, all rows: the right operand
  slices,            // of all slices that are reduced along z the same rows
  whole,             // all of it, once: of a sparse matmul
};

// The manipulations of an edge between an op that holds its result as `producer` and an operand that an op with `consumer` takes; `logical`
// are those of the graph. A sentence without full stop where there are none: parts that differ between slices, or padding that would be cut
// into parts.
std::variant<netlist::EdgeMaps, std::string> streamed_maps(const HeldResult& producer, const netlist::EdgeMaps& logical,
                                                           const Stream& consumer, StreamedOperand operand);

}  // namespace buda::balance
