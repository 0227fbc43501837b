// SPDX-License-Identifier: Apache-2.0
// Sparse (identity) matmul: products of sparse tiles and activation tiles, in the order in which the index tiles list them.
//
// Sparse tiles are mostly zeros, so each is turned into its list of numbers; a product then adds multiples of a few activation rows to
// a row of the output. Zeros are left out, so that an infinity among the activations reaches only the rows that pick it.
#include <buda/arith/bits.hpp>
#include <buda/arith/op.hpp>

#include <buda/base/parallel.hpp>
#include <buda/base/text.hpp>
#include <buda/netlist/model/sparse_encoding.hpp>

#include <algorithm>
#include <map>

namespace buda::arith {
namespace {

using netlist::Op;
using netlist::SparseGeometry;
using netlist::SparseProduct;
using netlist::TileShape;

std::size_t index_bytes(DataFormat f) {
  if (f == DataFormat::raw_uint8) return 1;
  return f == DataFormat::raw_uint16 ? 2 : 4;
}

// The part of a tensor that belongs to grid row r and fraction f of the columns, in tiles.
struct Part {
  std::size_t rt, ct, r, f;
};
Part part_of(const Op& op, const Value& v, std::size_t r, std::size_t f) {
  const auto rows = static_cast<std::size_t>(op.grid.rows), fractions = static_cast<std::size_t>(op.attributes.sparse.fracture_factor);
  return {static_cast<std::size_t>(v.tiles.rt) / rows, static_cast<std::size_t>(v.tiles.ct) / fractions, r, f};
}

// Where tile `index` of a part begins among the tensor's numbers; tiles are counted matrix by matrix and row by row.
std::size_t tile_start(const Value& v, const Part& p, std::size_t index) {
  const std::size_t c = index % p.ct, r = index / p.ct % p.rt, t = index / p.ct / p.rt;
  return t * v.matrix() + (p.r * p.rt + r) * static_cast<std::size_t>(v.dim.rows) * v.cols() +
         (p.f * p.ct + c) * static_cast<std::size_t>(v.dim.cols);
}
std::size_t tile_count(const Value& v, const Part& p) { return v.depth() * p.rt * p.ct; }

// The index tiles of a core as they lie in memory.
std::vector<std::uint8_t> index_tiles(const Op& op, const Value& v, std::size_t r, std::size_t f) {
  const Part part = part_of(op, v, r, f);
  const std::size_t width = index_bytes(v.format);
  std::vector<std::uint8_t> out;
  out.reserve(tile_count(v, part) * static_cast<std::size_t>(v.dim.datums()) * width);
  for (std::size_t i = 0; i < tile_count(v, part); ++i) {
    const std::int32_t* tile = v.ints.data() + tile_start(v, part, i);
    for (std::size_t y = 0; y < static_cast<std::size_t>(v.dim.rows); ++y)
      for (std::size_t x = 0; x < static_cast<std::size_t>(v.dim.cols); ++x) {
        const auto word = static_cast<std::uint32_t>(tile[y * v.cols() + x]);
        for (std::size_t b = 0; b < width; ++b) out.push_back(static_cast<std::uint8_t>(word >> (8 * b)));
      }
  }
  return out;
}

netlist::SparseResult<std::vector<SparseProduct>> products_of(const Op& op, const SparseGeometry& geometry, const Value& index,
                                                              std::size_t r, std::size_t f) {
  return decode_sparse(geometry, index_tiles(op, index, r, f), static_cast<std::size_t>(index.dim.datums()) * index_bytes(index.format));
}

template <class T>
struct Entry {
  std::uint32_t row, inner;
  T number, low;  // the bits that all phases see, and those that only a further phase of HiFi3 sees
};

inline void accumulate(float& sum, float a, float b) { sum += a * b; }
inline void accumulate(std::int32_t& sum, std::int32_t a, std::int32_t b) {
  sum = static_cast<std::int32_t>(static_cast<std::uint32_t>(sum) + static_cast<std::uint32_t>(a) * static_cast<std::uint32_t>(b));
}

// The arithmetic of modes exact and fp32, and of integers. T is what values hold and what sums are.
template <class T>
class PlainSums {
 public:
  using In = T;
  using Number = T;
  using Tile = std::vector<Entry<T>>;

  explicit PlainSums(const OpCall& call)
      : call_(call),
        acts_(*call.inputs[1]),
        bits_(phases(call.mode, call.op.fidelity, call.op.inputs[0].format)),
        dest_(dest_rounding(call.mode, call.op.acc_format, call.op.out_format)) {}

  Tile tile(const Value& sparse, const T* numbers) const {
    Tile out;
    for (std::uint32_t y = 0; y < static_cast<std::uint32_t>(sparse.dim.rows); ++y)
      for (std::uint32_t x = 0; x < static_cast<std::uint32_t>(sparse.dim.cols); ++x) {
        const T v = numbers[y * sparse.cols() + x];
        if (v == T{0}) continue;
        if constexpr (std::is_same_v<T, float>) {
          const float high = masked_bits(v, bits_.left);
          out.push_back({y, x, high, bits_.low_left ? masked_bits(v, kMultiplierB.full) - high : 0.0f});
        } else {
          out.push_back({y, x, v, 0});
        }
      }
    return out;
  }

  // sums += tile * activations from row `act` on, in columns [begin, end).
  void add(const Tile& sparse, std::size_t act, T* sums, std::size_t begin, std::size_t end) const {
    const T* from = acts_.data<T>().data() + act * acts_.cols();
    for (std::size_t i = 0; i < sparse.size();) {
      const std::uint32_t row = sparse[i].row;
      T* to = sums + row * acts_.cols();
      for (; i < sparse.size() && sparse[i].row == row; ++i) {
        const T* in = from + sparse[i].inner * acts_.cols();
        if constexpr (std::is_same_v<T, float>) {
          for (std::size_t c = begin; c < end; ++c) accumulate(to[c], sparse[i].number, masked_bits(in[c], bits_.right));
          if (bits_.low_left && sparse[i].low != 0.0f)
            for (std::size_t c = begin; c < end; ++c) accumulate(to[c], sparse[i].low, masked_bits(in[c], kMultiplierA.high));
        } else {
          for (std::size_t c = begin; c < end; ++c) accumulate(to[c], sparse[i].number, in[c]);
        }
      }
      if constexpr (std::is_same_v<T, float>) round_in_dest(dest_, {to + begin, end - begin});
    }
  }

  // Numbers of one row wait in a buffer of the intermediate format.
  void spill(std::span<T> numbers) const {
    if constexpr (std::is_same_v<T, float>) {
      const DataFormat f = call_.op.intermed_format;
      if (call_.mode == Mode::fp32 || f == DataFormat::invalid || is_integer(f)) return;
      pack(call_.mode, dest_, f, numbers, numbers.size());
    }
  }

 private:
  const OpCall& call_;
  const Value& acts_;
  ProductBits bits_;
  DestRounding dest_;
};

// That of mode bits: words of a destination register, and the steps of a dense product, without those that change nothing.
class BitSums {
 public:
  using In = float;
  using Number = std::uint32_t;
  struct Tile {
    numerics::LeftOperand left;
    std::vector<std::pair<std::size_t, std::size_t>> steps;  // row, first of 16 inner indices
  };

  explicit BitSums(const OpCall& call)
      : call_(call), how_(bits::product(call)), acts_(bits::source_words(call, *call.inputs[1]), call.inputs[1]->cols()) {}

  Tile tile(const Value& sparse, const float* numbers) const {
    const auto rows = static_cast<std::size_t>(sparse.dim.rows), inner = static_cast<std::size_t>(sparse.dim.cols);
    Value dense({1, 1, 1}, sparse.dim, sparse.format);
    for (std::size_t y = 0; y < rows; ++y) std::copy_n(numbers + y * sparse.cols(), inner, dense.floats.data() + y * inner);
    const bits::Words words = bits::source_words(call_, dense);
    Tile out{numerics::LeftOperand(words, inner), {}};
    // Sixteen zeros change a sum only where their exponent takes part in the alignment.
    const bool all = numerics::exponent_adjustment({how_.source, how_.dest, 0}) > 0;
    for (std::size_t y = 0; y < rows; ++y)
      for (std::size_t k = 0; k < inner; k += numerics::kInner)
        if (all || std::any_of(words.begin() + static_cast<std::ptrdiff_t>(y * inner + k),
                               words.begin() + static_cast<std::ptrdiff_t>(y * inner + k + numerics::kInner),
                               [](std::uint32_t word) { return numerics::move_to_dest(word) != 0; }))
          out.steps.emplace_back(y, k);
    return out;
  }

  void add(const Tile& sparse, std::size_t act, std::uint32_t* sums, std::size_t begin, std::size_t end) const {
    for (std::size_t panel = begin / numerics::kPanel; panel * numerics::kPanel < end; ++panel) {
      const std::size_t first = panel * numerics::kPanel, from = std::max(begin, first), to = std::min(end, first + numerics::kPanel);
      for (std::size_t i = 0; i < sparse.steps.size();) {
        const std::size_t row = sparse.steps[i].first;
        std::size_t next = i;
        while (next < sparse.steps.size() && sparse.steps[next].first == row) ++next;
        std::uint32_t* line = sums + row * acts_.cols();
        std::uint32_t block[numerics::kPanel] = {};
        std::copy(line + from, line + to, block + (from - first));
        for (unsigned phase : how_.phases)
          for (std::size_t k = i; k < next; ++k) step(sparse, panel, row, sparse.steps[k].second, act, phase, block);
        std::copy(block + (from - first), block + (to - first), line + from);
        i = next;
      }
    }
  }

  void spill(std::span<std::uint32_t> numbers) const {
    bits::DestNumbers waiting{how_.dest, {numbers.begin(), numbers.end()}};
    bits::spill(call_, waiting, call_.op.intermed_format);
    std::copy(waiting.words.begin(), waiting.words.end(), numbers.begin());
  }

 private:
  void step(const Tile& sparse, std::size_t panel, std::size_t row, std::size_t k, std::size_t act, unsigned phase,
            std::uint32_t* block) const {
    numerics::best_kernels().mvmul({acts_.exponents(panel, act + k),
                                    acts_.slices((phase & 1) != 0, panel, act + k),
                                    sparse.left.exponents(row, k),
                                    sparse.left.slices((phase & 2) != 0, row, k),
                                    sparse.left.inner(),
                                    {block, block + numerics::kPanel / 2},
                                    numerics::kPanel,
                                    1,
                                    numerics::exponent_adjustment({how_.source, how_.dest, phase}),
                                    how_.dest});
  }

  const OpCall& call_;
  numerics::Product how_;
  numerics::RightOperand acts_;
};

// Some columns of the outputs of a row of cores.
template <class Sums>
class Stretch {
 public:
  using Number = typename Sums::Number;

  Stretch(const OpCall& call, const Sums& sums, std::vector<Number>& out, std::size_t first_row, std::size_t begin, std::size_t end,
          std::size_t core_cols)
      : call_(call),
        sums_(sums),
        out_(out),
        acts_(*call.inputs[1]),
        first_row_(first_row),
        begin_(begin),
        end_(end),
        core_cols_(core_cols) {}

  void add(const SparseProduct& p, const typename Sums::Tile& sparse) {
    if (p.column < 0) return add(p, sparse, begin_, end_);
    // One ublock column of every core.
    const auto width = static_cast<std::size_t>(call_.op.block.ublock_ct) * static_cast<std::size_t>(acts_.dim.cols);
    for (std::size_t c = begin_ / core_cols_ * core_cols_; c < end_; c += core_cols_) {
      const std::size_t from = c + static_cast<std::size_t>(p.column) * width;
      add(p, sparse, std::max(from, begin_), std::min(from + width, end_));
    }
  }

  // Between strips the sums wait in a buffer of the intermediate format.
  void spill(std::int32_t t, std::int32_t row) {
    for (std::size_t y = 0; y < tile_rows(); ++y) sums_.spill({line(t, row, y) + begin_, end_ - begin_});
  }

 private:
  std::size_t tile_rows() const { return static_cast<std::size_t>(call_.op.tile_dim.rows); }
  Number* line(std::int32_t t, std::int32_t row, std::size_t y) {
    const std::size_t rows = static_cast<std::size_t>(call_.op.shape().rt) * tile_rows();
    return out_.data() +
           (static_cast<std::size_t>(t) * rows + (first_row_ + static_cast<std::size_t>(row)) * tile_rows() + y) * acts_.cols();
  }

  void add(const SparseProduct& p, const typename Sums::Tile& sparse, std::size_t begin, std::size_t end) {
    if (begin < end)
      sums_.add(sparse, static_cast<std::size_t>(p.act) * static_cast<std::size_t>(acts_.dim.rows), line(p.t, p.row, 0), begin, end);
  }

  const OpCall& call_;
  const Sums& sums_;
  std::vector<Number>& out_;
  const Value& acts_;
  std::size_t first_row_, begin_, end_, core_cols_;
};

// What one row of cores, or a fraction of it, does.
template <class Sums>
struct Work {
  std::vector<SparseProduct> products;
  std::map<std::int32_t, typename Sums::Tile> tiles;
};

template <class Sums>
std::variant<Work<Sums>, std::string> prepare(const OpCall& call, const Sums& sums, const SparseGeometry& geometry, std::size_t r,
                                              std::size_t f) {
  const Value& sparse = *call.inputs[0];
  const Value& acts = *call.inputs[1];
  const Value& index = *call.inputs[2];
  auto decoded = products_of(call.op, geometry, index, r, f);
  if (auto* error = std::get_if<std::string>(&decoded)) return cat("its index tiles for core row ", r, " are wrong: ", *error);
  Work<Sums> work{std::move(std::get<0>(decoded)), {}};
  const Part part = part_of(call.op, sparse, r, f);
  const auto rows = acts.tiles.t * acts.tiles.rt;
  for (const SparseProduct& p : work.products) {
    if (p.act >= rows) return cat("its index tiles for core row ", r, " ask for row ", p.act, " of ", rows, " rows of activation tiles");
    if (static_cast<std::size_t>(p.tile) >= tile_count(sparse, part))
      return cat("its index tiles for core row ", r, " ask for sparse tile ", p.tile, " of ", tile_count(sparse, part));
    if (work.tiles.count(p.tile) == 0)
      work.tiles.emplace(
          p.tile, sums.tile(sparse, sparse.data<typename Sums::In>().data() + tile_start(sparse, part, static_cast<std::size_t>(p.tile))));
  }
  return work;
}

template <class Sums>
std::variant<std::vector<typename Sums::Number>, std::string> multiply(const OpCall& call) {
  const Op& op = call.op;
  const Sums sums(call);
  const auto geometry = std::get<SparseGeometry>(netlist::sparse_geometry(op));
  const Value& acts = *call.inputs[1];
  std::vector<typename Sums::Number> out(static_cast<std::size_t>(elements(op)));
  const auto fractions = static_cast<std::size_t>(op.attributes.sparse.fracture_factor), cols = acts.cols(), width = cols / fractions;
  // Whole tiles, so that shared exponents are not cut.
  constexpr std::size_t kColumns = 256;
  for (std::size_t r = 0; r < static_cast<std::size_t>(op.grid.rows); ++r) {
    for (std::size_t f = 0; f < fractions; ++f) {
      auto prepared = prepare(call, sums, geometry, r, f);
      if (auto* error = std::get_if<std::string>(&prepared)) return *error;
      const Work<Sums>& work = std::get<0>(prepared);
      parallel_for(call.threads, (width + kColumns - 1) / kColumns, [&](std::size_t part) {
        const std::size_t begin = f * width + part * kColumns, end = f * width + std::min(width, (part + 1) * kColumns);
        Stretch<Sums> stretch(call, sums, out, r * static_cast<std::size_t>(geometry.rows()), begin, end,
                              cols / static_cast<std::size_t>(op.grid.cols));
        std::vector<std::int32_t> touched;
        const auto& products = work.products;
        for (std::size_t i = 0; i < products.size(); ++i) {
          const SparseProduct& p = products[i];
          stretch.add(p, work.tiles.at(p.tile));
          if (touched.empty() || touched.back() != p.row) touched.push_back(p.row);
          const bool strip_ends =
              i + 1 == products.size() || products[i + 1].t != p.t || products[i + 1].act / geometry.u_kt != p.act / geometry.u_kt;
          if (!strip_ends) continue;
          if (i + 1 < products.size() || op.attributes.bias)
            for (std::int32_t row : touched) stretch.spill(p.t, row);
          touched.clear();
        }
      });
    }
  }
  return out;
}

}  // namespace

netlist::SparseResult<std::vector<SparseProduct>> sparse_products(const Op& op, const Value& index, GridCoord core) {
  auto geometry = netlist::sparse_geometry(op);
  if (auto* error = std::get_if<std::string>(&geometry)) return std::move(*error);
  const std::int32_t cores = op.grid.cols / std::max(op.attributes.sparse.fracture_factor, 1);
  return products_of(op, std::get<SparseGeometry>(geometry), index, static_cast<std::size_t>(core.row),
                     static_cast<std::size_t>(core.col / std::max(cores, 1)));
}

std::optional<Unable> check_sparse(const OpShapes& shapes) {
  const Op& op = shapes.op;
  const auto& a = op.attributes;
  if (auto unable = need_inputs(shapes, a.bias ? 4 : 3)) return unable;
  auto geometry = netlist::sparse_geometry(op);
  if (auto* error = std::get_if<std::string>(&geometry)) return Unable{*error, "", false};
  const TileShape out = op.shape();
  const std::int64_t fractions = a.sparse.fracture_factor;
  if (fractions < 1 || op.grid.cols % fractions != 0)
    return Unable{cat("fracture_factor ", fractions, " does not divide its ", op.grid.cols, " columns of cores"), "", false};
  for (std::size_t i : {std::size_t{0}, std::size_t{2}})
    if (shapes.inputs[i].rt % op.grid.rows != 0 || shapes.inputs[i].ct % fractions != 0)
      return Unable{cat("input ", i, " has the shape ", shapes.inputs[i].text(), ", which cannot be divided among ", op.grid.rows,
                        " rows of cores and ", fractions, " fractions"),
                    "", false};
  if (shapes.dims[0].rows != op.tile_dim.rows || shapes.dims[0].cols != shapes.dims[1].rows || shapes.dims[1].cols != op.tile_dim.cols)
    return Unable{cat("its sparse tiles are ", shapes.dims[0].rows, "x", shapes.dims[0].cols, " and its activations ", shapes.dims[1].rows,
                      "x", shapes.dims[1].cols, ", which do not make output tiles of ", op.tile_dim.rows, "x", op.tile_dim.cols),
                  "", false};
  if (shapes.inputs[1].ct != out.ct)
    return Unable{cat("its activations have ", shapes.inputs[1].ct, " columns of tiles, the output ", out.ct), "", false};
  const DataFormat index = op.inputs[2].format;
  if (index != DataFormat::raw_uint32 && index != DataFormat::raw_uint16 && index != DataFormat::raw_uint8)
    return Unable{cat("its index tiles are ", format_name(index)), "RawUInt8, RawUInt16 and RawUInt32 are possible", false};
  if (is_integer(op.inputs[0].format) != is_integer(op.inputs[1].format))
    return Unable{"one operand holds integers and the other does not", "", false};
  if (a.requant || a.dequant || !a.sfpu_op.empty() || a.accumulate)
    return Unable{"requant, dequant, sfpu_op and accumulate cannot be combined with a sparse matmul", "", false};
  if (a.bias) return need_shape(shapes, 3, out, op.tile_dim);
  return std::nullopt;
}

Outcome bits::sparse_matmul(const OpCall& call) {
  if (auto error = cannot_meet(call)) return *error;
  auto sums = multiply<BitSums>(call);
  if (auto* error = std::get_if<std::string>(&sums)) return *error;
  DestNumbers out{product(call).dest, std::move(std::get<0>(sums))};
  if (call.op.attributes.bias) add_bias(call, *call.inputs[3], out);
  return finish(call, out);
}

Outcome run_sparse(const OpCall& call) {
  if (call.inputs[0]->integer()) {
    auto sums = multiply<PlainSums<std::int32_t>>(call);
    if (auto* error = std::get_if<std::string>(&sums)) return *error;
    auto& numbers = std::get<0>(sums);
    if (call.op.attributes.bias)
      for (std::size_t i = 0; i < numbers.size(); ++i) accumulate(numbers[i], 1, call.inputs[3]->ints[i]);
    return finish(call, std::move(numbers));
  }
  if (call.mode == Mode::bits) return bits::sparse_matmul(call);
  auto sums = multiply<PlainSums<float>>(call);
  if (auto* error = std::get_if<std::string>(&sums)) return *error;
  auto& numbers = std::get<0>(sums);
  if (call.op.attributes.bias) add_bias(call, *call.inputs[3], numbers);
  return finish(call, std::move(numbers));
}

}  // namespace buda::arith
