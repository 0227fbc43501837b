// SPDX-License-Identifier: Apache-2.0
// Streaming along t: a result is divided into parts of fewer rows or columns, which pass through the op's grid one after the other.
//
// An op that streams holds a part of its result in L1 instead of all of it. In the netlist its t is `parts` times as large. A result of T
// matrices passes part by part, in each part all matrices (directions r and c: part i of matrix z is its matrix i * T + z), or matrix by
// matrix, each part by part (rz and cz: z * parts + i). Who reads it puts the parts together again by stacks before the other manipulations
// of the edge, and an op that streams cuts its inputs by slices after them. Where both stream alike, stacks and slices cancel out.
//
// The result of a sparse matmul lies otherwise. A part holds the same rows of all T slices below one another, as (parts, T * R / parts, C):
// products then read the activations from top to bottom (sparse_models.hpp). Cut into its slices it is a result that streams along r. In
// bands, a part holds some of its rows of all slices, then the next ones of all slices: cut into slices, it is one with so many times the
// parts. Cores that make a band each have all slices of their rows, as readers need them that put the slices side by side.
#pragma once

#include <buda/netlist/model/op.hpp>
#include <buda/netlist/model/tensor_maps.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#pragma GCC visibility push(default)

namespace buda::balance {

// Of a single matrix r and rz are the same, as are c and cz; it streams along r or c.
enum class StreamDirection : std::uint8_t { none, r, c, rz, cz };
std::string_view direction_name(StreamDirection direction);  // "n", "r", "c", "rz", "cz": as PyBuda writes them
std::optional<StreamDirection> direction_from_name(std::string_view name);
// Whether parts are rows, of a matrix or of all; otherwise they are columns.
bool cuts_rows(StreamDirection direction);
bool goes_by_matrix(StreamDirection direction);

struct Stream {
  StreamDirection direction = StreamDirection::none;
  std::int32_t parts = 1;
  friend bool operator==(const Stream&, const Stream&) = default;
};

// A result as its op, or a source, holds it.
struct HeldResult {
  Stream stream;
  std::int64_t matrices = 1;  // of the result: its t as the graph has it
  bool below = false;         // of a sparse matmul: in each part they lie below one another
  std::int64_t bands = 1;     // of rows of each part, if they do
};

// The shape of `logical` (t, rt, ct) when it is held so. The parts must divide it.
netlist::TileShape held_shape(const netlist::TileShape& logical, const HeldResult& held);

// Which parts of an operand each part of the result needs.
enum class StreamedOperand : std::uint8_t {
  rows_and_columns,  // its own rows or columns: of elementwise ops, reductions, biases
  rows,              // the same rows, all columns: the left operand of a matmul
  columns,           // the same columns, all rows: the right operand
  slices,            // of all slices that are reduced along z the same rows, slice after slice
  whole,             // all of it, once: of a sparse matmul
};

// The manipulations of an edge between an op that holds its result as `producer` and an operand that an op with `consumer` takes; `logical`
// are those of the graph. A sentence without full stop where there are none: padding that would be cut into parts, or that is cut off a
// result in parts.
std::variant<netlist::EdgeMaps, std::string> streamed_maps(const HeldResult& producer, const netlist::EdgeMaps& logical,
                                                           const Stream& consumer, StreamedOperand operand);

}  // namespace buda::balance

#pragma GCC visibility pop
