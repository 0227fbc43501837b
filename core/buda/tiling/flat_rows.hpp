// SPDX-License-Identifier: Apache-2.0
// Inputs in flat layout: rows of datums instead of tiles, read from a queue in pieces (docs/internals/reblocking.md).
#pragma once

#include <buda/netlist/model/op.hpp>
#include <buda/netlist/model/queue.hpp>
#include <buda/tiling/edge_routes.hpp>

#include <cstdint>
#include <string>
#include <variant>

namespace buda::tiling {

// A tilizer takes its input as rows, an embedding its table.
bool takes_rows(const netlist::Op& op, std::size_t input);

// How the cores of an op share the rows of a queue. What travels is a piece: as much of one row as a ublock of the queue is wide. A core
// goes through `rows_per_column` rows of its first column of pieces, then through the same rows of the next column; after the last column
// come the next rows. In the file a piece is known by its row alone; its column follows from its place in the list.
struct RowCut {
  std::int64_t planes = 1;            // ts of one entry
  std::int64_t buffer_rows = 0;       // of a plane, in a buffer of the queue; for a table, as many as are looked up
  std::int64_t rows = 0;              // of a plane, that a core takes
  std::int64_t rows_per_column = 0;   // divides `rows`
  std::int64_t columns = 0;           // of pieces, that a core takes
  std::int32_t down = 1, across = 1;  // cores that share a buffer
  std::int32_t piece_bytes = 0;
  std::int64_t rows_at_once = 0;  // that the kernel waits for
  std::int64_t block_rows = 1;    // that one block of the file has

  std::int64_t buffer_columns() const { return columns * across; }
  std::int64_t buffer_pieces() const { return planes * buffer_rows * buffer_columns(); }
  std::int64_t core_pieces() const { return planes * rows * columns; }
  std::int64_t row_bytes() const { return buffer_columns() * piece_bytes; }
  // From the beginning of a plane in the buffer to the first piece of a core of the op.
  std::int64_t offset_bytes(std::int32_t row, std::int32_t col) const {
    return row % down * rows * row_bytes() + col % across * columns * piece_bytes;
  }
  friend bool operator==(const RowCut&, const RowCut&) = default;
};

// `rows`: the layout of the queue, of tiles of `dim`. The format is that of the op's input 0. Where it cannot be: why, a sentence without
// full stop.
std::variant<RowCut, std::string> cut_rows(const TileLayout& rows, TileDim dim, const netlist::Op& op);

// One pipe for each core. Run::first is the row, counted through all planes, with which a run begins. O(columns of pieces).
EdgeRoutes route_rows(const RowCut& cut, const TileLayout& rows, GridShape consumer);

}  // namespace buda::tiling
