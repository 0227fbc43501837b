// SPDX-License-Identifier: Apache-2.0
// Drawing numbers, and lists of products for sparse matmuls.
#include <buda/runtime/session/stimulus.hpp>

#include <buda/base/hash.hpp>
#include <buda/base/rng.hpp>
#include <buda/base/text.hpp>
#include <buda/netlist/model/op_shapes.hpp>
#include <buda/netlist/model/sparse_encoding.hpp>
#include <buda/netlist/model/tensor_maps.hpp>
#include <buda/runtime/ports.hpp>
#include <buda/runtime/session/netlist_run.hpp>
#include <buda/tensor/formats/quantize.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace buda::runtime {
namespace {

using netlist::Netlist;
using netlist::Op;
using netlist::OperandRole;
using netlist::Queue;
using netlist::SparseGeometry;
using netlist::SparseProduct;
using netlist::TileShape;

// A matrix of numbers of an entry, addressed by tile.
struct Layout {
  TileShape tiles;
  TileDim dim;
  std::size_t rows() const { return static_cast<std::size_t>(tiles.rt) * static_cast<std::size_t>(dim.rows); }
  std::size_t cols() const { return static_cast<std::size_t>(tiles.ct) * static_cast<std::size_t>(dim.cols); }
  std::size_t size() const { return static_cast<std::size_t>(tiles.t) * rows() * cols(); }
  std::size_t tile_start(std::size_t t, std::size_t r, std::size_t c) const {
    return (t * rows() + r * static_cast<std::size_t>(dim.rows)) * cols() + c * static_cast<std::size_t>(dim.cols);
  }
};

struct Reader {
  const Op* op = nullptr;
  std::size_t input = 0;
};

// A uniform number in (0, 1] and one in [0, 1) make two normal ones (Box and Muller, 1958); one of them is enough here.
double normal(Rng& rng) {
  const double u = 1.0 - rng.uniform(), v = rng.uniform();
  return std::sqrt(-2.0 * std::log(u)) * std::cos(2.0 * std::numbers::pi * v);
}

class Filler {
 public:
  Filler(const Netlist& netlist, const Queue& queue, Reader reader, const Stimulus* given, std::uint64_t seed, std::int64_t entries)
      : netlist_(netlist),
        queue_(queue),
        entries_(entries),
        reader_(reader),
        given_(given),
        rng_(Fnv1a{}.add(queue.name).add(seed).value()),
        layout_{queue.shape(), queue.tile_dim} {}

  Result<Tensor> run() {
    const Shape entry = entry_shape(queue_);
    Shape shape{entries_, entry[0], entry[1], entry[2]};
    std::vector<double> numbers;
    numbers.reserve(layout_.size() * static_cast<std::size_t>(entries_));
    for (std::int32_t e = 0; e < entries_; ++e) BUDA_TRY(append(numbers, e));
    if (!is_integer(queue_.format)) return Tensor(std::move(shape), std::vector<float>(numbers.begin(), numbers.end()));
    if (queue_.format == DataFormat::raw_uint32) return Tensor(std::move(shape), converted<std::uint32_t>(numbers));
    return Tensor(std::move(shape), converted<std::int32_t>(numbers));
  }

 private:
  template <class T>
  static std::vector<T> converted(const std::vector<double>& numbers) {
    std::vector<T> out(numbers.size());
    std::transform(numbers.begin(), numbers.end(), out.begin(), [](double v) { return static_cast<T>(static_cast<std::int64_t>(v)); });
    return out;
  }

  Result<void> append(std::vector<double>& numbers, std::int32_t entry) {
    const std::size_t first = numbers.size();
    numbers.resize(first + layout_.size());
    double* to = numbers.data() + first;
    const OperandRole role = reader_.op == nullptr ? OperandRole::elementwise : operand_row(*reader_.op, reader_.input).role;
    const bool topk_index = role == OperandRole::sorted && reader_.input == 1;
    if (role == OperandRole::sparse_tiles) {
      sparse_tiles(to);
    } else if (role == OperandRole::index_tiles) {
      return index_tiles(to);
    } else if (role == OperandRole::row_numbers) {
      const Queue* table = find_queue(reader_.op->inputs[0].name);
      const auto rows = table == nullptr ? 1 : table->shape().rt * table->tile_dim.rows;
      for (std::size_t i = 0; i < layout_.size(); ++i) to[i] = static_cast<double>(rng_.below(static_cast<std::uint64_t>(rows)));
    } else if (topk_index) {
      for (std::size_t i = 0; i < layout_.size(); ++i) to[i] = static_cast<double>(i % layout_.cols() % 256);
    } else {
      plain(to, entry);
    }
    return success();
  }

  void plain(double* to, std::int32_t entry) {
    const bool integer = is_integer(queue_.format);
    Stimulus s;
    if (given_ != nullptr) {
      s = *given_;
    } else if (integer) {
      const bool with_sign = queue_.format == DataFormat::int8 || queue_.format == DataFormat::int32;
      s.low = with_sign ? -16 : 0;
      s.high = with_sign ? 16 : 32;
    }
    const std::size_t rows = layout_.rows(), cols = layout_.cols(), size = layout_.size();
    const auto h = static_cast<std::size_t>(layout_.dim.rows), w = static_cast<std::size_t>(layout_.dim.cols);
    auto inside = [](const std::optional<TileRange>& range, std::size_t place) {
      return !range || (static_cast<std::int32_t>(place) + 1 >= range->first && static_cast<std::int32_t>(place) + 1 <= range->second);
    };
    for (std::size_t i = 0; i < size; ++i) {
      const std::size_t row = i / cols % rows, col = i % cols;
      double v = 0;
      switch (s.kind) {
        case Stimulus::Kind::normal:
          v = s.mean + s.deviation * normal(rng_);
          break;
        case Stimulus::Kind::constant:
          v = s.value;
          break;
        case Stimulus::Kind::tile_id: {
          const std::size_t tiles = static_cast<std::size_t>(layout_.tiles.volume());
          const std::size_t tile =
              (i / cols / rows * static_cast<std::size_t>(layout_.tiles.rt) + row / h) * static_cast<std::size_t>(layout_.tiles.ct) +
              col / w;
          v = s.id_base + s.id_step * static_cast<double>(static_cast<std::size_t>(entry) * tiles + tile);
          break;
        }
        case Stimulus::Kind::step:
          v = s.start + s.increment * static_cast<double>(i);
          break;
        case Stimulus::Kind::step_rows:
          v = s.start + s.increment * static_cast<double>(col);
          break;
        case Stimulus::Kind::step_columns:
          v = s.start + s.increment * static_cast<double>(row);
          break;
        default:
          v = integer ? std::floor(rng_.uniform(std::trunc(s.low), std::trunc(s.high) + 1)) : rng_.uniform(s.low, s.high);
          break;
      }
      to[i] = inside(s.rows, row % h) && inside(s.cols, col % w) ? (integer ? std::trunc(v) : v) : 0;
    }
  }

  // Each row of each tile has one 1: it picks one row of an activation tile.
  void sparse_tiles(double* to) {
    const auto w = static_cast<std::size_t>(layout_.dim.cols);
    for (std::size_t row = 0; row < layout_.size() / layout_.cols(); ++row)
      for (std::size_t c = 0; c < static_cast<std::size_t>(layout_.tiles.ct); ++c)
        to[row * layout_.cols() + c * w + static_cast<std::size_t>(rng_.below(w))] = 1;
  }

  const Queue* find_queue(const std::string& name) const {
    for (const Queue& q : netlist_.queues)
      if (q.name == name) return &q;
    return nullptr;
  }
  // What arrives at an input of the op, after its manipulations.
  std::optional<TileShape> arriving(std::size_t input) const {
    const auto& in = reader_.op->inputs[input];
    std::optional<TileShape> shape;
    if (const Queue* q = find_queue(in.name)) shape = q->shape();
    for (const auto& graph : netlist_.graphs)
      for (const Op& op : graph.ops)
        if (!shape && op.name == in.name) shape = op.shape();
    if (!shape) return std::nullopt;
    auto map = netlist::TileMap::make(*shape, in.maps);
    if (!std::holds_alternative<netlist::TileMap>(map)) return std::nullopt;
    return std::get<netlist::TileMap>(map).shape();
  }

  // The parts of the queue belong to the rows of cores and to fractions of their columns; where it has too few tiles for that, a
  // manipulation hands the same ones to all.
  Result<void> index_tiles(double* to) {
    const Op& op = *reader_.op;
    auto geometry = netlist::sparse_geometry(op);
    const auto sparse = arriving(0), acts = arriving(1);
    if (std::holds_alternative<std::string>(geometry) || !sparse || !acts) return success();  // refused by whoever runs it
    const std::size_t rt = static_cast<std::size_t>(layout_.tiles.rt), ct = static_cast<std::size_t>(layout_.tiles.ct);
    const auto grid_rows = static_cast<std::size_t>(op.grid.rows),
               fracture = static_cast<std::size_t>(std::max(op.attributes.sparse.fracture_factor, 1));
    const std::size_t parts_r = rt % grid_rows == 0 ? grid_rows : 1, parts_c = ct % fracture == 0 ? fracture : 1;
    const std::int64_t tiles = sparse->volume() / std::max<std::int64_t>(static_cast<std::int64_t>(grid_rows * fracture), 1);
    const int width = queue_.format == DataFormat::raw_uint8 ? 1 : queue_.format == DataFormat::raw_uint16 ? 2 : 4;
    const std::size_t tile_bytes = static_cast<std::size_t>(layout_.dim.datums() * width), part_rt = rt / parts_r, part_ct = ct / parts_c;
    for (std::size_t pr = 0; pr < parts_r; ++pr)
      for (std::size_t pc = 0; pc < parts_c; ++pc) {
        const std::size_t room = static_cast<std::size_t>(layout_.tiles.t) * part_rt * part_ct;
        const auto bytes = encoding(std::get<SparseGeometry>(geometry), tiles, acts->t * acts->rt, tile_bytes, room);
        for (std::size_t tile = 0; tile < std::min(room, bytes.size() / tile_bytes); ++tile) {
          const std::size_t c = tile % part_ct, r = tile / part_ct % part_rt, t = tile / part_ct / part_rt;
          const std::size_t start = layout_.tile_start(t, pr * part_rt + r, pc * part_ct + c);
          for (std::size_t i = 0; i < static_cast<std::size_t>(layout_.dim.datums()); ++i) {
            std::uint32_t word = 0;
            for (int b = 0; b < width; ++b)
              word |=
                  static_cast<std::uint32_t>(bytes[tile * tile_bytes + i * static_cast<std::size_t>(width) + static_cast<std::size_t>(b)])
                  << (8 * b);
            const auto w = static_cast<std::size_t>(layout_.dim.cols);
            to[start + i / w * layout_.cols() + i % w] = word;
          }
        }
      }
    return success();
  }

  // Index tiles that fit in `room` tiles; the fewer products the less room there is.
  std::vector<std::uint8_t> encoding(const SparseGeometry& g, std::int64_t tiles, std::int64_t act_rows, std::size_t tile_bytes,
                                     std::size_t room) {
    const Stimulus s = given_ != nullptr ? *given_ : Stimulus{};
    double keep = 1;
    for (int attempt = 0; attempt < 24; ++attempt, keep /= 2) {
      const auto products =
          g.form == SparseGeometry::Form::strips ? strip_products(g, s, keep, tiles, act_rows) : word_products(g, tiles, act_rows);
      auto bytes = netlist::encode_sparse(g, products, tile_bytes);
      if (auto* done = std::get_if<0>(&bytes); done != nullptr && done->size() <= room * tile_bytes) return std::move(*done);
    }
    auto nothing = netlist::encode_sparse(g, {}, tile_bytes);
    return std::holds_alternative<std::string>(nothing) ? std::vector<std::uint8_t>{} : std::move(std::get<0>(nothing));
  }

  std::vector<SparseProduct> strip_products(const SparseGeometry& g, const Stimulus& s, double keep, std::int64_t tiles,
                                            std::int64_t act_rows) {
    std::vector<SparseProduct> out;
    const std::int64_t strips = act_rows / g.u_kt, codes = std::min(tiles, std::int64_t{1} << g.tile_bits);
    if (strips < 1 || codes < 1) return out;
    auto kept = [&](double zeros) { return rng_.uniform() >= zeros; };
    for (std::int32_t t = 0; t < g.t; ++t)
      for (std::int32_t strip = 0; strip < strips; ++strip) {
        if (!kept(s.zero_strips)) continue;
        for (std::int32_t m = 0; m < g.mblock_m; ++m) {
          if (!kept(s.zero_ublocks)) continue;
          for (std::int32_t r = 0; r < g.ublock_rt; ++r)
            for (std::int32_t k = 0; k < g.u_kt; ++k)
              if (kept(1 - keep * (1 - s.zero_tiles)))
                out.push_back({t, m * g.ublock_rt + r, strip * g.u_kt + k,
                               static_cast<std::int32_t>(rng_.below(static_cast<std::uint64_t>(codes))), -1});
        }
      }
    return out;
  }

  // One product for every row of activation tiles and ublock column, as far as indices_len goes, and then more for those.
  std::vector<SparseProduct> word_products(const SparseGeometry& g, std::int64_t tiles, std::int64_t act_rows) {
    const std::int64_t per_block = std::int64_t{g.mblock_n} * g.ublock_rt,
                       blocks = std::min<std::int64_t>(act_rows / g.ublock_rt, g.length / (per_block + 1));
    std::int64_t spare = g.length - blocks * (per_block + 1);
    const std::uint64_t out_rows = static_cast<std::uint64_t>(std::min<std::int64_t>(std::int64_t{g.t} * g.rows(), 0x1fff));
    std::vector<SparseProduct> out;
    for (std::int32_t b = 0; b < blocks; ++b)
      for (std::int32_t n = 0; n < g.mblock_n; ++n)
        for (std::int32_t r = 0; r < g.ublock_rt; ++r) {
          const bool more = spare > 0 && rng_.below(2) == 1;
          if (more) --spare;
          for (int i = 0; i < (more ? 2 : 1); ++i) {
            const auto row = out.empty() ? g.starting_row : static_cast<std::int32_t>(rng_.below(out_rows));
            out.push_back({row / g.rows(), row % g.rows(), b * g.ublock_rt + r,
                           static_cast<std::int32_t>(rng_.below(static_cast<std::uint64_t>(std::max<std::int64_t>(tiles, 1)))), n});
          }
        }
    return out;
  }

  const Netlist& netlist_;
  const Queue& queue_;
  std::int64_t entries_;
  Reader reader_;
  const Stimulus* given_;
  Rng rng_;
  Layout layout_;
};

// Numbers that the format holds: which of equal ones comes first is open, and numbers must not become equal on their way.
Tensor as_held(const Tensor& tensor, DataFormat format) {
  if (!is_float(format) || !is_float(tensor.dtype()) || tensor.size() == 0) return tensor;
  std::vector<float> numbers = tensor.to_f32();
  const auto cols = static_cast<std::size_t>(tensor.shape()[tensor.shape().rank() - 1]);
  round_before_packing(numbers, format);
  quantize_to_format(numbers, numbers.size() / cols, cols, format);
  return Tensor(tensor.shape(), std::move(numbers));
}

}  // namespace

Result<NamedTensors> stimulate(const Netlist& netlist, const TestConfig& config, std::uint64_t seed,
                               const std::map<std::string, std::int64_t>& entries) {
  std::map<std::string, Reader> readers;
  for (const auto& graph : netlist.graphs)
    for (const Op& op : graph.ops)
      for (std::size_t i = 0; i < op.inputs.size(); ++i) {
        // Where several ops read a queue, one that cannot do with just any data decides.
        auto [it, fresh] = readers.emplace(op.inputs[i].name, Reader{&op, i});
        const OperandRole role = operand_row(op, i).role;
        const bool indices = role == OperandRole::index_tiles || role == OperandRole::row_indices || role == OperandRole::row_numbers;
        if (!fresh && indices) it->second = {&op, i};
      }
  NamedTensors out;
  for (const Queue* queue : input_queues(netlist)) {
    const auto reader = readers.find(queue->name);
    const auto count = entries.find(queue->name);
    Filler filler(netlist, *queue, reader == readers.end() ? Reader{} : reader->second, config.stimulus.find(queue->name), seed,
                  count == entries.end() ? queue->entries : std::min<std::int64_t>(count->second, queue->entries));
    BUDA_ASSIGN(auto tensor, filler.run());
    const bool is_sorted = reader != readers.end() && reader->second.op->type == netlist::OpType::topk && reader->second.input == 0;
    out.emplace(queue->name, is_sorted ? as_held(tensor, queue->format) : std::move(tensor));
  }
  return out;
}

}  // namespace buda::runtime
