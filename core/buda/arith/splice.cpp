// SPDX-License-Identifier: Apache-2.0
// splice: pieces of its inputs, one after the other.
//
// With granularity ublock every core works on its own part of each input, once per t: the part is cut into ublocks of the output's size,
// counted in the output's order. Each input has a cursor; round after round, for every input in turn, the cursor moves on by `index`,
// `length` ublocks from there on are copied to the end of the output, and the cursor moves on by `stride`, counted from where the copy
// began. A round passes `index` + `stride` ublocks, and all rounds together the whole input: what is left would come first in the next t.
// Granularity t does the same with whole t.
#include <buda/arith/op.hpp>
#include <buda/arith/special_values.hpp>
#include <buda/arith/splice.hpp>

#include <buda/base/text.hpp>

#include <algorithm>

namespace buda::arith {
namespace {

using netlist::Granularity;
using netlist::Op;
using netlist::SpliceRange;
using netlist::TileShape;
using netlist::UblockOrder;

bool whole_t(const Op& op) { return op.attributes.granularity == Granularity::t; }

// Units of the output that a core fills in one go, and those of an input with this shape that it takes them from.
std::int64_t units(const Op& op, const TileShape& shape) {
  if (whole_t(op)) return shape.t;
  return shape.rt / op.grid.rows / op.block.ublock_rt * (shape.ct / op.grid.cols / op.block.ublock_ct);
}

std::optional<Unable> check_splice(const OpShapes& shapes) {
  const Op& op = shapes.op;
  const TileShape out = op.shape();
  std::int64_t per_round = 0;
  for (std::size_t i = 0; i < op.inputs.size(); ++i) {
    if (!op.inputs[i].splice) return Unable{cat("it has no attribute input", i, ": [index, length, stride]"), "", false};
    per_round += op.inputs[i].splice->length;
    if (op.inputs[i].format != op.inputs[0].format) return Unable{"its inputs have different formats", "", false};
    if (shapes.dims[i] != op.tile_dim) return Unable{cat("input ", i, " has other tiles than the output"), "", false};
    const TileShape& in = shapes.inputs[i];
    if (whole_t(op)) {
      if (in.rt != out.rt || in.ct != out.ct)
        return Unable{cat("input ", i, " has the shape ", in.text(), ", the output ", out.text(), ": rt and ct must be the same"), "",
                      false};
    } else {
      if (in.t != out.t) return Unable{cat("input ", i, " has t=", in.t, ", the output t=", out.t), "", false};
      if (in.rt % (std::int64_t{op.grid.rows} * op.block.ublock_rt) != 0 || in.ct % (std::int64_t{op.grid.cols} * op.block.ublock_ct) != 0)
        return Unable{cat("input ", i, " has the shape ", in.text(), ", which cannot be cut into the op's grid and ublocks"), "", false};
    }
  }
  const std::int64_t wanted = units(op, out);
  if (per_round < 1 || wanted % per_round != 0)
    return Unable{cat("its ranges copy ", per_round, " units per round, which does not fill an output of ", wanted), "", false};
  for (std::size_t i = 0; i < op.inputs.size(); ++i) {
    const SpliceRange& s = *op.inputs[i].splice;
    const std::int64_t rounds = wanted / per_round, round = std::int64_t{s.index} + s.stride;
    const std::int64_t end = (rounds - 1) * round + s.index + s.length, there = units(op, shapes.inputs[i]);
    if (end > there) return Unable{cat("its ranges read ", end, " units of input ", i, ", which has ", there), "", false};
    if (rounds * round != there)
      return Unable{cat("its ranges pass ", rounds * round, " units of input ", i, " (", rounds, rounds == 1 ? " round" : " rounds",
                        " of index ", s.index, " and stride ", s.stride, "), which has ", there),
                    "stride counts from the start of the copied units: index and stride of all rounds add up to the whole input", false};
  }
  return std::nullopt;
}

// Where ublock `unit` of a core's part of a tensor begins, in rows and columns of numbers.
struct Corner {
  std::size_t row, col;
};
Corner corner(const Op& op, const TileShape& shape, std::int32_t grid_row, std::int32_t grid_col, std::int64_t unit) {
  const std::int64_t m = shape.rt / op.grid.rows / op.block.ublock_rt, n = shape.ct / op.grid.cols / op.block.ublock_ct;
  const std::int64_t i = op.ublock_order == UblockOrder::r ? unit / n : unit % m,
                     j = op.ublock_order == UblockOrder::r ? unit % n : unit / m;
  return {static_cast<std::size_t>((grid_row * m + i) * op.block.ublock_rt * op.tile_dim.rows),
          static_cast<std::size_t>((grid_col * n + j) * op.block.ublock_ct * op.tile_dim.cols)};
}

template <class T>
Value run_splice_as(const OpCall& call) {
  const Op& op = call.op;
  const TileShape shape = op.shape();
  const auto from = splice_sources(op);
  std::vector<T> out(static_cast<std::size_t>(elements(op)));
  const std::size_t cols = static_cast<std::size_t>(shape.ct) * static_cast<std::size_t>(op.tile_dim.cols);
  const std::size_t matrix = out.size() / static_cast<std::size_t>(shape.t);
  if (whole_t(op)) {
    for (std::size_t t = 0; t < from.size(); ++t)
      std::copy_n(call.inputs[from[t].first]->data<T>().data() + static_cast<std::size_t>(from[t].second) * matrix, matrix,
                  out.data() + t * matrix);
    return finish_copied(call, call.inputs[0]->format, std::move(out));
  }
  const std::size_t height = static_cast<std::size_t>(op.block.ublock_rt) * static_cast<std::size_t>(op.tile_dim.rows);
  const std::size_t width = static_cast<std::size_t>(op.block.ublock_ct) * static_cast<std::size_t>(op.tile_dim.cols);
  for (std::size_t t = 0; t < static_cast<std::size_t>(shape.t); ++t)
    for (std::int32_t r = 0; r < op.grid.rows; ++r)
      for (std::int32_t c = 0; c < op.grid.cols; ++c)
        for (std::size_t u = 0; u < from.size(); ++u) {
          const Value& in = *call.inputs[from[u].first];
          const Corner source = corner(op, in.tiles, r, c, from[u].second), to = corner(op, shape, r, c, static_cast<std::int64_t>(u));
          const T* data = in.data<T>().data() + t * in.matrix() + source.row * in.cols() + source.col;
          for (std::size_t y = 0; y < height; ++y)
            std::copy_n(data + y * in.cols(), width, out.data() + t * matrix + (to.row + y) * cols + to.col);
        }
  return finish_copied(call, call.inputs[0]->format, std::move(out));
}

Value run_splice(const OpCall& call) { return call.inputs[0]->integer() ? run_splice_as<std::int32_t>(call) : run_splice_as<float>(call); }

}  // namespace

std::vector<std::pair<std::size_t, std::int64_t>> splice_sources(const Op& op) {
  std::vector<std::int64_t> cursor(op.inputs.size(), 0);
  std::vector<std::pair<std::size_t, std::int64_t>> out;
  const auto wanted = static_cast<std::size_t>(units(op, op.shape()));
  while (out.size() < wanted) {
    for (std::size_t i = 0; i < op.inputs.size(); ++i) {
      const SpliceRange& s = *op.inputs[i].splice;
      cursor[i] += s.index;
      for (std::int32_t k = 0; k < s.length; ++k) out.emplace_back(i, cursor[i] + k);
      cursor[i] += s.stride;
    }
  }
  return out;
}

bool splices_whole_t(const Op& op) { return whole_t(op); }

const OpKind kSplice = {&check_splice, &as_on_chip<always<run_splice>, Reach::anything>, [](const Op&) { return 0.0; }};

}  // namespace buda::arith
