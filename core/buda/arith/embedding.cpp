// SPDX-License-Identifier: Apache-2.0
// embedding: rows of a table, picked by indices.
//
// Every row of cores takes num_indices indices, in order of rows and columns, from its own part of the index tensor, and makes as many rows
// of the output; rows beyond stay zero, and so do those whose index is all ones.
#include <buda/arith/op.hpp>
#include <buda/arith/special_values.hpp>

#include <buda/base/text.hpp>

#include <algorithm>
#include <cmath>

namespace buda::arith {
namespace {

using netlist::Op;
using netlist::TileShape;

// With how many bits an index is all ones.
std::uint64_t no_index(DataFormat f) {
  if (f == DataFormat::uint8 || f == DataFormat::raw_uint8) return 0xff;
  return f == DataFormat::uint16 || f == DataFormat::raw_uint16 ? 0xffff : 0xffffffff;
}

std::optional<Unable> check_embedding(const OpShapes& shapes) {
  const Op& op = shapes.op;
  if (auto unable = need_inputs(shapes, 2)) return unable;
  const TileShape out = op.shape(), table = shapes.inputs[0], index = shapes.inputs[1];
  if (table.ct != out.ct || shapes.dims[0].cols != op.tile_dim.cols)
    return Unable{cat("rows of the table have ", table.ct, " tiles, rows of the output ", out.ct), "", false};
  for (std::size_t i = 0; i < 2; ++i)
    if (shapes.inputs[i].t != 1 && shapes.inputs[i].t != out.t)
      return Unable{cat("input ", i, " has t=", shapes.inputs[i].t, "; 1 or the output's ", out.t, " is needed"), "", false};
  if (index.rt % op.grid.rows != 0)
    return Unable{cat("the indices have ", index.rt, " rows of tiles, which ", op.grid.rows, " rows of cores cannot share"), "", false};
  const std::int64_t rows = out.rt / op.grid.rows * op.tile_dim.rows, there = index.rt / op.grid.rows * index.ct * shapes.dims[1].datums();
  if (op.attributes.num_indices > rows || op.attributes.num_indices > there)
    return Unable{cat("num_indices is ", op.attributes.num_indices, "; a row of cores has ", there, " indices and makes ", rows, " rows"),
                  "", false};
  if (is_integer(op.inputs[0].format) != is_integer(op.out_format))
    return Unable{"of table and output one holds integers and the other does not", "", false};
  return std::nullopt;
}

template <class T>
std::variant<Value, std::string> look_up(const OpCall& call) {
  const Op& op = call.op;
  const Value& table = *call.inputs[0];
  const Value& index = *call.inputs[1];
  const std::size_t cols = table.cols(), depth = static_cast<std::size_t>(op.shape().t), cores = static_cast<std::size_t>(op.grid.rows);
  const std::size_t rows = static_cast<std::size_t>(op.shape().rt) * static_cast<std::size_t>(op.tile_dim.rows), core_rows = rows / cores;
  Value found(op.shape(), op.tile_dim, table.format);
  std::vector<T>& out = found.data<T>();
  for (std::size_t t = 0; t < depth; ++t) {
    const T* from = table.data<T>().data() + (table.depth() == 1 ? 0 : t * table.matrix());
    for (std::size_t core = 0; core < cores; ++core) {
      const std::size_t first = (index.depth() == 1 ? 0 : t * index.matrix()) + core * (index.matrix() / cores);
      for (std::size_t i = 0; i < static_cast<std::size_t>(op.attributes.num_indices); ++i) {
        std::uint64_t row = 0;
        if (index.integer()) {
          row = static_cast<std::uint32_t>(index.ints[first + i]) & no_index(index.format);
        } else {
          const float given = index.floats[first + i];
          if (!(given >= 0) || given != std::floor(given))
            return cat("index ", i, " of core row ", core, " is ", given, ", which is no row");
          row = static_cast<std::uint64_t>(std::min(given, 4294967040.0f));
        }
        if (row == no_index(index.format)) continue;
        if (row >= table.rows()) return cat("index ", i, " of core row ", core, " is ", row, "; the table has ", table.rows(), " rows");
        std::copy_n(from + row * cols, cols, out.data() + (t * rows + core * core_rows + i) * cols);
      }
    }
  }
  return found;
}

Outcome run_embedding(const OpCall& call) {
  auto found = looked_up(call);
  if (auto* error = std::get_if<std::string>(&found)) return std::move(*error);
  Value& rows = std::get<Value>(found);
  return rows.integer() ? finish(call, std::move(rows.ints)) : finish_copied(call, rows.format, std::move(rows.floats));
}

}  // namespace

std::variant<Value, std::string> looked_up(const OpCall& call) {
  return call.inputs[0]->integer() ? look_up<std::int32_t>(call) : look_up<float>(call);
}

const OpKind kEmbedding = {&check_embedding, &as_on_chip<run_embedding, Reach::anything>, [](const Op&) { return 0.0; }};

}  // namespace buda::arith
