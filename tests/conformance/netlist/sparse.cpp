// SPDX-License-Identifier: Apache-2.0
// Sparse matmul: index tiles read word by word, as specified, and products added tile by tile.
#include "evaluate.hpp"

#include <buda/base/text.hpp>

#include <cmath>

namespace buda::judge {

using netlist::Op;

namespace {

int width_of(std::int32_t u_kt) {
  int bits = 1;
  for (std::int32_t most = u_kt - 1; most >> bits != 0;) ++bits;
  return bits;
}

class SparseCore {
 public:
  SparseCore(const Task& task, Array& out, Array& sizes, std::size_t r, std::size_t c)
      : task_(task), op_(task.op), out_(out), sizes_(sizes), r_(r), c_(c) {
    const Array& index = task.inputs[2];
    fractions_ = static_cast<std::size_t>(std::max(op_.attributes.sparse.fracture_factor, 1));
    f_ = c * fractions_ / static_cast<std::size_t>(op_.grid.cols);
    const int bytes = op_.inputs[2].format == DataFormat::raw_uint8 ? 1 : op_.inputs[2].format == DataFormat::raw_uint16 ? 2 : 4;
    const std::size_t rows = index.rows / static_cast<std::size_t>(op_.grid.rows), cols = index.cols / fractions_;
    tile_bytes_ = static_cast<std::size_t>(index.tile.datums() * bytes);
    for (std::size_t t = 0; t < index.t; ++t)
      for (std::size_t tr = 0; tr < rows / 32; ++tr)
        for (std::size_t tc = 0; tc < cols / 32; ++tc)
          for (std::size_t i = 0; i < 1024; ++i) {
            const auto word = static_cast<std::uint32_t>(
                static_cast<std::int64_t>(index.value[index.at(t, r * rows + tr * 32 + i / 32, f_ * cols + tc * 32 + i % 32)]));
            for (int b = 0; b < bytes; ++b) memory_.push_back(static_cast<std::uint8_t>(word >> (8 * b)));
          }
  }

  std::string run() {
    return op_.attributes.sparse.sparse_tile_ptr_bits == 0 && op_.attributes.sparse.indices_len > 0 ? words() : strips();
  }

 private:
  std::uint32_t half(std::size_t at) const { return at + 1 < memory_.size() ? memory_[at] | memory_[at + 1] << 8u : 0u; }
  std::uint32_t word(std::size_t i) const { return half(4 * i) | half(4 * i + 2) << 16; }

  std::string strips() {
    const auto& s = op_.attributes.sparse;
    const int inner_bits = width_of(std::max(op_.attributes.u_kt, 1));
    const int row_bits = op_.block.ublock_rt == 1 ? 0 : width_of(op_.block.ublock_rt);
    const int tile_bits = s.sparse_tile_ptr_bits > 0 ? s.sparse_tile_ptr_bits : 16 - inner_bits - row_bits;
    const int ublock_bits = s.sparse_ublock_idx_bits > 0 ? s.sparse_ublock_idx_bits
                            : s.sparse_tile_ptr_bits > 0 ? s.sparse_tile_ptr_bits
                                                         : width_of(op_.block.mblock_m);
    std::size_t at = 0, tile = 0;
    for (std::size_t t = 0; t < static_cast<std::size_t>(op_.block.t);) {
      if (at + 6 > memory_.size()) return "strips beyond the index tiles";
      const std::uint32_t head = half(at) | half(at + 2) << 16;
      const std::uint32_t count = half(at + 4);
      at += 6;
      for (std::uint32_t u = 0; u < count; ++u) {
        const std::uint32_t code = half(at);
        at += 2;
        const std::uint32_t ublock = code % (1u << ublock_bits);
        std::uint32_t tiles = code >> ublock_bits;
        if (tiles == 0) tiles = 1u << (16 - ublock_bits);
        for (std::uint32_t i = 0; i < tiles; ++i, at += 2) {
          const std::uint32_t place = half(at) % (1u << (16 - tile_bits)), sparse = half(at) >> (16 - tile_bits);
          add(t, ublock * static_cast<std::uint32_t>(op_.block.ublock_rt) + (place >> inner_bits),
              std::size_t{head & 0x3fffffffu} * static_cast<std::size_t>(std::max(op_.attributes.u_kt, 1)) + place % (1u << inner_bits),
              sparse, -1);
        }
      }
      if ((head >> 31) != 0) at = ++tile * tile_bytes_;
      t += head >> 30 & 1;
    }
    return {};
  }

  std::string words() {
    const auto& b = op_.block;
    const std::size_t rows = static_cast<std::size_t>(b.mblock_m * b.ublock_rt),
                      length = static_cast<std::size_t>(op_.attributes.sparse.indices_len);
    std::size_t i = 0, row = static_cast<std::size_t>(op_.attributes.sparse.starting_row), act = 0;
    while (i < length) {
      const std::uint32_t head = word(i++);
      if ((head >> 26 & 15) == 9) continue;  // control and push
      if ((head >> 27 & 3) != 0) return "loops are not judged";
      for (std::int32_t n = 0; n < b.mblock_n; ++n)
        for (bool last = false; !last;)
          for (std::int32_t r = 0; r < b.ublock_rt; ++r)
            for (bool last_in_row = false; !last_in_row;) {
              if (i >= memory_.size() / 4) return "words beyond the index tiles";
              const std::uint32_t code = word(i++);
              add(row / rows, row % rows, act + static_cast<std::size_t>(r), code & 0xffff, n);
              row = code >> 16 & 0x1fff;
              last_in_row = (code >> 31) != 0;
              last = (code >> 30 & 1) != 0;
            }
      act += static_cast<std::size_t>(b.ublock_rt);
    }
    return {};
  }

  void add(std::size_t t, std::size_t row, std::size_t act, std::size_t sparse, std::int32_t column) {
    const Array& s = task_.inputs[0];
    const Array& x = task_.inputs[1];
    const auto h = static_cast<std::size_t>(s.tile.rows), k = static_cast<std::size_t>(s.tile.cols),
               in_h = static_cast<std::size_t>(x.tile.rows);
    const std::size_t part_rows = s.rows / static_cast<std::size_t>(op_.grid.rows), part_cols = s.cols / fractions_;
    const std::size_t ct = part_cols / k, rt = part_rows / h;
    const std::size_t st = sparse / (ct * rt), sr = r_ * part_rows + sparse / ct % rt * h, sc = f_ * part_cols + sparse % ct * k;
    const std::size_t acts = x.rows / in_h, width = out_.cols / static_cast<std::size_t>(op_.grid.cols);
    std::size_t begin = c_ * width, end = begin + width;
    if (column >= 0) {
      const std::size_t w = static_cast<std::size_t>(op_.block.ublock_ct) * static_cast<std::size_t>(x.tile.cols);
      begin += static_cast<std::size_t>(column) * w;
      end = begin + w;
    }
    const std::size_t core_rows = out_.rows / static_cast<std::size_t>(op_.grid.rows);
    for (std::size_t y = 0; y < h; ++y)
      for (std::size_t i = 0; i < std::min(k, in_h); ++i) {
        const double v = s.value[s.at(st, sr + y, sc + i)];
        if (v == 0) continue;
        const std::size_t from = x.at(act / acts, act % acts * in_h + i, 0), to = out_.at(t, r_ * core_rows + row * h + y, 0);
        for (std::size_t j = begin; j < end; ++j) {
          out_.value[to + j] += v * x.value[from + j];
          sizes_.value[to + j] += std::fabs(v * x.value[from + j]);
          sizes_.error[to + j] += 1;
        }
      }
  }

  const Task& task_;
  const Op& op_;
  Array& out_;
  Array& sizes_;  // sums of magnitudes, and in `error` how many there were
  std::size_t r_, c_, f_ = 0, fractions_ = 1, tile_bytes_ = 0;
  std::vector<std::uint8_t> memory_;
};

}  // namespace

std::variant<Array, std::string> sparse(const Task& task) {
  const Op& op = task.op;
  const Registers r{task.precision, op.acc_format, op.intermed_format, op.out_format, op.fidelity, task.most_work};
  const Array& s = task.inputs[0];
  const Array& x = task.inputs[1];
  const auto shape = op.shape();
  Array out(static_cast<std::size_t>(shape.t), static_cast<std::size_t>(shape.rt * s.tile.rows), x.cols, {s.tile.rows, x.tile.cols});
  Array sizes = out;
  sizes.error.assign(sizes.size(), 0);
  for (std::size_t row = 0; row < static_cast<std::size_t>(op.grid.rows); ++row)
    for (std::size_t c = 0; c < static_cast<std::size_t>(op.grid.cols); ++c)
      if (auto error = SparseCore(task, out, sizes, row, c).run(); !error.empty()) return error;
  out.error.assign(out.size(), 0);
  if (!is_integer(op.inputs[0].format)) {
    const double unit = dest_unit(r.precision, r.acc, r.out), least = dest_smallest(r.precision, r.acc, r.out);
    // The sums may wait in the intermediate format after every product.
    Array waiting = sizes;
    waiting.error.assign(waiting.size(), 0);
    pack(r.precision, is_integer(r.intermed) || r.intermed == DataFormat::invalid ? DataFormat::float32 : r.intermed, waiting);
    for (std::size_t i = 0; i < out.size(); ++i)
      out.error[i] = sizes.value[i] * (product_unit(r.precision, r.fidelity) + unit * (sizes.error[i] + 1)) + least * (sizes.error[i] + 1) +
                     (r.precision == Precision::exact ? waiting.error[i] * (sizes.error[i] + 1) : 0);
  }
  if (op.attributes.bias) {
    const Array bias = with_tile(task.inputs[3], out.tile);
    const bool integer = is_integer(op.inputs[0].format);
    const double unit = dest_unit(r.precision, r.acc, r.out);
    const auto h = static_cast<std::size_t>(out.tile.rows);
    for (std::size_t t = 0; t < out.t; ++t)
      for (std::size_t i = 0; i < out.rows; ++i)
        for (std::size_t j = 0; j < out.cols; ++j) {
          const std::size_t at = out.at(t, i, j);
          out.value[at] += bias.value[bias.at(t, integer ? i : i - i % h, j)];
          if (!integer) out.error[at] += (std::fabs(out.value[at]) + out.error[at]) * unit;
        }
  }
  return out;
}

}  // namespace buda::judge
