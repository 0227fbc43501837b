// SPDX-License-Identifier: Apache-2.0
// Ops, class by class.
#include "evaluate.hpp"

#include <buda/base/text.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace buda::judge {

using netlist::Dim;
using netlist::Granularity;
using netlist::Op;
using netlist::OpClass;
using netlist::OpType;

namespace {

using Outcome = std::variant<Array, std::string>;

std::size_t size(std::int64_t v) { return static_cast<std::size_t>(v); }

Registers registers(const Task& t) {
  return {t.precision, t.op.acc_format, t.op.intermed_format, t.op.out_format, t.op.fidelity, t.most_work};
}

void add_bias(Array& out, const Array& bias, bool integer, const Registers& r) {
  const auto h = size(out.tile.rows);
  const double unit = dest_unit(r.precision, r.acc, r.out);
  for (std::size_t t = 0; t < out.t; ++t)
    for (std::size_t i = 0; i < out.rows; ++i)
      for (std::size_t j = 0; j < out.cols; ++j) {
        const double b = bias.value[bias.at(t, integer ? i : i - i % h, j)];
        const std::size_t at = out.at(t, i, j);
        out.value[at] += b;
        if (!integer) out.error[at] += (std::fabs(out.value[at]) + out.error[at]) * unit;
      }
}

void round_integers(Array& a) {
  a.error.assign(a.size(), 0);
  // The register wraps around at 32 bits.
  for (double& v : a.value) v = static_cast<double>(static_cast<std::int32_t>(static_cast<std::uint32_t>(static_cast<std::int64_t>(v))));
}

Array matmul(const Task& task) {
  const Op& op = task.op;
  const auto& a = op.attributes;
  const Registers r = registers(task);
  const bool integer = is_integer(op.inputs[0].format);
  const std::size_t z = a.accumulate ? size(std::max(a.z, 1)) : 1;
  Array made;
  const Array& right = with_tile(task.inputs[1], {task.inputs[0].tile.cols, task.inputs[1].tile.cols}, made);
  Array out = product(task.inputs[0], right, z, size(std::max(a.m_k, 1)), a.bias, r);
  if (integer) {
    // Unchecked rows stay so.
    const std::vector<double> before = out.error;
    round_integers(out);
    for (std::size_t i = 0; i < out.size(); ++i)
      if (std::isinf(before[i])) out.error[i] = before[i];
  }
  if (a.bias) add_bias(out, with_tile(task.inputs[2], out.tile), integer, r);
  if (a.requant || a.dequant)
    out =
        quantized(a.dequant ? OpType::dequantization : OpType::requantization, a.zero_point, out, with_tile(task.inputs.back(), out.tile));
  if (a.sfpu_op == "gelu") out = unary(OpType::gelu, netlist::OpAttributes{}, out, r);
  return out;
}

Array depthwise(const Task& task) {
  const Op& op = task.op;
  const Array& x = task.inputs[0];
  const Array& y = task.inputs[1];
  const Registers r = registers(task);
  const std::size_t ct = size(op.shape().ct), inner = size(op.inner_tiles()), k = size(x.tile.cols), w = size(y.tile.cols);
  Array out(x.t, x.rows, ct * w, {x.tile.rows, y.tile.cols});
  out.error.assign(out.size(), 0);
  // One product for each column of tiles.
  for (std::size_t c = 0; c < ct; ++c) {
    const Array left = gathered(x, x.t, x.rows, inner * k, [&](std::size_t t, std::size_t i, std::size_t j) {
      return static_cast<std::ptrdiff_t>(x.at(t, i, (c + j / k * ct) * k + j % k));
    });
    const Array right = gathered(y, y.t, inner * k, w, [&](std::size_t t, std::size_t i, std::size_t j) {
      return static_cast<std::ptrdiff_t>(y.at(t, i, c * w + j));
    });
    const Array column = product(left, right, 1, 1, false, r);
    for (std::size_t t = 0; t < out.t; ++t)
      for (std::size_t i = 0; i < out.rows; ++i)
        for (std::size_t j = 0; j < w; ++j) {
          out.value[out.at(t, i, c * w + j)] = column.value[column.at(t, i, j)];
          out.error[out.at(t, i, c * w + j)] = column.error[column.at(t, i, j)];
        }
  }
  if (op.attributes.bias) add_bias(out, with_tile(task.inputs[2], out.tile), false, r);
  return out;
}

Outcome splice(const Task& task) {
  const Op& op = task.op;
  const auto shape = op.shape();
  const bool by_t = op.attributes.granularity == Granularity::t;
  Array out(size(shape.t), size(shape.rt * op.tile_dim.rows), size(shape.ct * op.tile_dim.cols), op.tile_dim);
  const std::size_t uh = size(op.block.ublock_rt * op.tile_dim.rows), uw = size(op.block.ublock_ct * op.tile_dim.cols);
  const std::size_t gr = by_t ? 1 : size(op.grid.rows), gc = by_t ? 1 : size(op.grid.cols);
  // A list of units for one core: which unit of which input. Round k copies `length` units of an input from number
  // k * (index + stride) + index on, and the rounds together use the input up.
  std::vector<std::pair<std::size_t, std::size_t>> units;
  const std::size_t wanted = by_t ? out.t : out.rows / gr / uh * (out.cols / gc / uw);
  std::size_t rounds = 0;
  for (; units.size() < wanted; ++rounds) {
    const std::size_t before = units.size();
    for (std::size_t i = 0; i < task.inputs.size(); ++i) {
      const auto& s = *op.inputs[i].splice;
      for (std::size_t n = 0; n < size(s.length); ++n) units.emplace_back(i, rounds * size(s.index + s.stride) + size(s.index) + n);
    }
    if (units.size() == before) return std::string("splice copies nothing");
  }
  for (std::size_t i = 0; i < task.inputs.size(); ++i) {
    const Array& in = task.inputs[i];
    const auto& s = *op.inputs[i].splice;
    if (rounds * size(s.index + s.stride) != (by_t ? in.t : in.rows / gr / uh * (in.cols / gc / uw)))
      return cat("splice does not use up input ", i);
  }
  for (std::size_t t = 0; t < out.t; ++t)
    for (std::size_t i = 0; i < out.rows; ++i)
      for (std::size_t j = 0; j < out.cols; ++j) {
        if (by_t) {
          const Array& in = task.inputs[units[t].first];
          out.value[out.at(t, i, j)] = in.value[in.at(units[t].second, i, j)];
          continue;
        }
        // Which ublock of its core this number lies in, and the same place in the ublock that it comes from.
        auto number = [&](std::size_t m, std::size_t n, std::size_t rows, std::size_t cols) {
          return op.ublock_order == netlist::UblockOrder::r ? m * cols + n : n * rows + m;
        };
        const std::size_t ph = out.rows / gr, pw = out.cols / gc;
        const auto [source, unit] = units[number(i % ph / uh, j % pw / uw, ph / uh, pw / uw)];
        const Array& in = task.inputs[source];
        const std::size_t ih = in.rows / gr, iw = in.cols / gc, rows = ih / uh, cols = iw / uw;
        const std::size_t m = op.ublock_order == netlist::UblockOrder::r ? unit / cols : unit % rows,
                          n = op.ublock_order == netlist::UblockOrder::r ? unit % cols : unit / rows;
        out.value[out.at(t, i, j)] = in.value[in.at(t, i / ph * ih + m * uh + i % ph % uh, j / pw * iw + n * uw + j % pw % uw)];
      }
  return out;
}

Outcome embedding(const Task& task) {
  const Op& op = task.op;
  const Array& table = task.inputs[0];
  const Array& index = task.inputs[1];
  Array out(size(op.shape().t), size(op.shape().rt * op.tile_dim.rows), table.cols, op.tile_dim);
  const std::size_t cores = size(op.grid.rows);
  for (std::size_t t = 0; t < out.t; ++t)
    for (std::size_t core = 0; core < cores; ++core)
      for (std::size_t i = 0; i < size(op.attributes.num_indices); ++i) {
        const std::size_t part = index.rows / cores;
        const double row = index.value[index.at(index.t == 1 ? 0 : t, core * part + i / index.cols, i % index.cols)];
        if (row < 0 || row >= static_cast<double>(table.rows)) continue;
        for (std::size_t j = 0; j < out.cols; ++j)
          out.value[out.at(t, core * (out.rows / cores) + i, j)] =
              table.value[table.at(table.t == 1 ? 0 : t, static_cast<std::size_t>(row), j)];
      }
  return out;
}

// The k largest in descending order. Which of equal numbers' indices come out is left open: those are not judged.
Outcome topk(const Task& task) {
  const Op& op = task.op;
  const Array& x = task.inputs[0];
  const std::size_t cores = size(op.grid.cols), k = size(op.attributes.k), length = x.cols / cores,
                    width = size(op.shape().ct * op.tile_dim.cols) / cores;
  Array out(x.t, x.rows, width * cores, op.tile_dim);
  out.error.assign(out.size(), 0);
  const bool values = op.attributes.sort == netlist::TopkSort::max;
  // With kreduce the row has to consist of sorted runs of k. Those of more than 16 are sorted once more before they are merged, so that
  // their direction does not matter; shorter ones have to go downwards and upwards in turn. What comes of other rows is left open.
  auto runs_sorted = [&](std::size_t first) {
    for (std::size_t run = 0; run < length; run += k) {
      const auto begin = x.value.begin() + static_cast<std::ptrdiff_t>(first + run), end = begin + static_cast<std::ptrdiff_t>(k);
      const bool down = std::is_sorted(begin, end, std::greater<>()), up = std::is_sorted(begin, end);
      if (k > 16 ? !down && !up : run / k % 2 == 0 ? !down : !up) return false;
    }
    return true;
  };
  std::vector<std::size_t> order(length);
  for (std::size_t row = 0; row < x.t * x.rows; ++row)
    for (std::size_t core = 0; core < cores; ++core) {
      const std::size_t first = row * x.cols + core * length;
      const bool open = op.attributes.kreduce && !runs_sorted(first);
      for (std::size_t i = 0; i < length; ++i) order[i] = i;
      std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return x.value[first + a] > x.value[first + b]; });
      for (std::size_t i = 0; i < k; ++i) {
        const std::size_t to = row * out.cols + core * width + i;
        const double v = x.value[first + order[i]];
        const bool tie = (i > 0 && x.value[first + order[i - 1]] == v) || (i + 1 < length && x.value[first + order[i + 1]] == v);
        out.value[to] = values ? v : task.inputs[1].value[first + order[i]];
        if ((!values && tie) || open) out.error[to] = std::numeric_limits<double>::infinity();
      }
    }
  return out;
}

Outcome compute(const Task& task) {
  const Op& op = task.op;
  const Registers r = registers(task);
  switch (netlist::op_class(op.type)) {
    case OpClass::binary: {
      const TileDim dim{std::max(task.inputs[0].tile.rows, task.inputs[1].tile.rows),
                        std::max(task.inputs[0].tile.cols, task.inputs[1].tile.cols)};
      Array left, right;
      Array out = binary(op.type, with_tile(task.inputs[0], dim, left), with_tile(task.inputs[1], dim, right), r);
      if (is_integer(op.inputs[0].format)) {
        out.error.assign(out.size(), 0);
        for (double& v : out.value) v = std::clamp(v, -2147483647.0, 2147483647.0);
      }
      return out;
    }
    case OpClass::quant:
      return quantized(op.type, op.attributes.zero_point, task.inputs[0], task.inputs[1]);
    case OpClass::unary:
    case OpClass::sfpu:
    case OpClass::tilizer:
    case OpClass::ethernet:
    case OpClass::buffer:
    case OpClass::drainer: {
      if (is_integer(op.inputs[0].format)) return task.inputs[0];
      return unary(netlist::op_class(op.type) == OpClass::sfpu ? op.type : OpType::nop, op.attributes, task.inputs[0], r);
    }
    case OpClass::matmul:
      if (op.attributes.identity) return sparse(task);
      return matmul(task);
    case OpClass::depthwise:
      return depthwise(task);
    case OpClass::reduce: {
      const auto shape = op.shape();
      const Dim dim = op.attributes.reduce_dim;
      Array out = reduced(dim, size(dim == Dim::z ? shape.t : dim == Dim::r ? shape.rt : shape.ct), task.inputs[0], r);
      if (is_integer(op.inputs[0].format)) out.error.assign(out.size(), 0);
      return out;
    }
    case OpClass::splice:
      return splice(task);
    case OpClass::embedding:
      return embedding(task);
    case OpClass::topk:
      return topk(task);
    case OpClass::fused:
      return fused(task);
  }
  return std::string("unknown op");
}

}  // namespace

std::variant<Array, std::string> evaluate(const Task& task) {
  Outcome made = compute(task);
  if (std::holds_alternative<std::string>(made)) return made;
  Array out = std::move(std::get<Array>(made));
  if (out.error.empty()) out.error.resize(out.size());
  const Op& op = task.op;
  const Registers r = registers(task);
  if (task.previous != nullptr) {
    const Array before = with_tile(*task.previous, out.tile);
    const double unit = dest_unit(r.precision, r.acc, r.out);
    for (std::size_t i = 0; i < out.size(); ++i) {
      out.value[i] += before.value[i];
      out.error[i] += (std::fabs(out.value[i]) + out.error[i]) * unit;
    }
  }
  const OpClass c = netlist::op_class(op.type);
  if (c != OpClass::fused) relu(op.attributes.relu, out);
  // A Float32 on its way through the destination register.
  if (!is_integer(op.inputs.empty() ? op.out_format : op.inputs[0].format) && c != OpClass::ethernet) {
    const double unit = dest_unit(r.precision, r.acc, r.out), least = dest_smallest(r.precision, r.acc, r.out);
    for (std::size_t i = 0; i < out.size(); ++i) out.error[i] += std::fabs(out.value[i]) * unit + least;
  }
  if (is_integer(op.out_format) && op.type == OpType::topk) {
    for (double& e : out.error)
      if (!std::isinf(e)) e = 0;
  }
  pack(task.precision, op.out_format, out);
  return with_tile(std::move(out), op.tile_dim);
}

}  // namespace buda::judge
