// SPDX-License-Identifier: Apache-2.0
// The products of each core, counted and encoded.
#include <buda/balance/models/sparse.hpp>

#include <buda/balance/models/encoded_selection.hpp>
#include <buda/base/text.hpp>
#include <buda/netlist/model/sparse_encoding.hpp>

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

namespace buda::balance {
namespace {

using netlist::SparseProduct;

constexpr std::int32_t kSide = 32;
constexpr std::int32_t kIndexTileBytes = kSide * kSide * 4;
// Bytes of a strip's head, and of each further word (netlist/sparse_encoding.hpp).
constexpr std::int32_t kStripHead = 6, kWord = 2;
// A strip's words name a sparse tile and a place by 16 bits.
constexpr int kWordBits = 16;

int bits_for_count(std::int32_t count) {
  int bits = 1;
  while ((count - 1) >> bits > 0) ++bits;
  return bits;
}

// The products of a core, in the order in which it executes them, with its own numbers of sparse tiles.
struct CoreProducts {
  std::vector<SparseProduct> products;  // ascending by part, strip
  std::vector<std::int32_t> tiles;      // number in SelectionMatrix::tiles, by the core's own number
};

// Products in ascending order of strips, of one strip as they come: by counting, for there are few strips and many products.
void append_by_strip(const std::vector<SparseProduct>& part, std::int32_t u_kt, std::vector<std::size_t>& next,
                     std::vector<SparseProduct>& out) {
  std::fill(next.begin(), next.end(), 0);
  for (const SparseProduct& p : part) ++next[static_cast<std::size_t>(p.act / u_kt)];
  std::size_t at = out.size();
  for (std::size_t& n : next) at += std::exchange(n, at);
  out.resize(at);
  for (const SparseProduct& p : part) out[next[static_cast<std::size_t>(p.act / u_kt)]++] = p;
}

// Row of the selection matrix that is row `row` of part `part` on a core.
std::int32_t matrix_row(const SelectionMatrix& matrix, const SparseBlocking& b, std::int32_t core, std::int32_t part, std::int32_t row) {
  const std::int32_t held = core * b.mblock_m * b.ublock_rt + row;
  const std::int32_t rows_of_band = matrix.rows / (b.parts * b.bands), all_of_band = rows_of_band * matrix.slices;
  const std::int32_t band = part * b.bands + held / all_of_band, in_band = held % all_of_band;
  return in_band / rows_of_band * matrix.rows + band * rows_of_band + in_band % rows_of_band;
}

// Counts how often activations are sent to a core that takes, part by part, strips from `first` to `last`.
class Passes {
 public:
  void take(std::int32_t first, std::int32_t last) {
    if (first < last_strip_) ++count_;
    last_strip_ = last;
  }
  std::int32_t count() const { return count_; }

 private:
  std::int32_t last_strip_ = 0, count_ = 1;
};

CoreProducts products_of_core(const SelectionMatrix& matrix, const SparseBlocking& b, std::int32_t core) {
  CoreProducts out;
  std::vector<std::int32_t> own(matrix.tiles.size(), -1);
  const std::int32_t per_core = b.mblock_m * b.ublock_rt;
  const std::int32_t all_acts = matrix.act_matrices * matrix.act_rows;
  std::vector<std::size_t> by_strip(static_cast<std::size_t>(all_acts / b.u_kt));
  std::vector<SparseProduct> of_part;
  Passes passes;
  for (std::int32_t part = 0; part < b.parts; ++part) {
    of_part.clear();
    for (std::int32_t row = 0; row < per_core; ++row) {
      for (const auto& p : matrix.of_row(matrix_row(matrix, b, core, part, row))) {
        std::int32_t& number = own[static_cast<std::size_t>(p.tile)];
        if (number < 0) {
          number = static_cast<std::int32_t>(out.tiles.size());
          out.tiles.push_back(p.tile);
        }
        of_part.push_back({part, row, p.act, number, -1});
      }
    }
    if (of_part.empty()) continue;
    const std::size_t begin = out.products.size();
    append_by_strip(of_part, b.u_kt, by_strip, out.products);
    passes.take(out.products[begin].act / b.u_kt, out.products.back().act / b.u_kt);
    for (std::size_t i = begin; i < out.products.size(); ++i) out.products[i].act += (passes.count() - 1) * all_acts;
  }
  return out;
}

// What the products of a core take, and what decides whether the encoding has room.
struct CoreUse {
  std::int32_t tiles = 0, index_tiles = 1;
  std::int64_t products = 0, strips = 0, ublocks = 0;
  std::int32_t longest = 0;         // bytes of a strip
  std::int32_t most_of_ublock = 0;  // products of one row of ublocks in a strip
};

// Index tiles that encode_sparse fills one after the other with whole strips.
class IndexTiles {
 public:
  explicit IndexTiles(CoreUse& use) : use_(use) {}
  void add_strip(std::int32_t words) {
    const std::int32_t bytes = kStripHead + kWord * words;
    use_.longest = std::max(use_.longest, bytes);
    if (used_ + bytes > kIndexTileBytes) {
      ++use_.index_tiles;
      used_ = 0;
    }
    used_ += bytes;
  }

 private:
  CoreUse& use_;
  std::int32_t used_ = 0;
};

// Counts without putting products in order: within a part the rows come in order, and so do the rows of ublocks of each strip. `seen`: by
// sparse tile the last core that has it.
CoreUse use_of_core(const SelectionMatrix& matrix, const SparseBlocking& b, std::int32_t core, std::vector<std::int32_t>& seen) {
  struct Strip {
    std::int32_t words = 0, ublock = -1, of_ublock = 0;
  };
  CoreUse out;
  IndexTiles index_tiles(out);
  const std::int32_t all_strips = matrix.act_matrices * matrix.act_rows / b.u_kt;
  std::vector<Strip> strips(static_cast<std::size_t>(all_strips));
  for (std::int32_t part = 0; part < b.parts; ++part) {
    std::int32_t first = std::numeric_limits<std::int32_t>::max(), last = -1;
    for (std::int32_t row = 0; row < b.mblock_m * b.ublock_rt; ++row) {
      const std::int32_t ublock = row / b.ublock_rt;
      for (const auto& p : matrix.of_row(matrix_row(matrix, b, core, part, row))) {
        const std::int32_t number = p.act / b.u_kt;
        Strip& strip = strips[static_cast<std::size_t>(number)];
        if (strip.ublock != ublock) {
          strip.ublock = ublock;
          strip.of_ublock = 0;
          ++strip.words;
          ++out.ublocks;
        }
        ++strip.words;
        out.most_of_ublock = std::max(out.most_of_ublock, ++strip.of_ublock);
        ++out.products;
        if (std::exchange(seen[static_cast<std::size_t>(p.tile)], core) != core) ++out.tiles;
        first = std::min(first, number);
        last = std::max(last, number);
      }
    }
    // A part of zeros has a strip, too, with nothing in it.
    if (last < 0) index_tiles.add_strip(0);
    for (std::int32_t number = first; number <= last; ++number) {
      Strip& strip = strips[static_cast<std::size_t>(number)];
      if (strip.words == 0) continue;
      index_tiles.add_strip(strip.words);
      ++out.strips;
      strip = {};
    }
  }
  return out;
}

netlist::SparseGeometry geometry(const SparseBlocking& b, const SparseUse& use) {
  netlist::SparseGeometry g;
  g.t = b.parts;
  g.mblock_m = b.mblock_m;
  g.ublock_rt = b.ublock_rt;
  g.u_kt = b.u_kt;
  g.inner_bits = bits_for_count(b.u_kt);
  g.tile_bits = use.tile_bits;
  g.ublock_bits = use.ublock_bits;
  return g;
}

// Where tile `column` of grid row `row` begins among the numbers of a tensor of `columns` tiles a row.
std::size_t tile_start(std::int32_t row, std::int32_t column, std::int32_t columns) {
  return (static_cast<std::size_t>(row) * kSide * static_cast<std::size_t>(columns) + static_cast<std::size_t>(column)) * kSide;
}

}  // namespace

SparseBlocking sparse_blocking(const OpModel& model) {
  return {model.stream.parts, model.grid.rows, model.block.mblock_m, model.block.ublock_rt, model.u_kt, model.bands};
}

ActRanges act_ranges(const SelectionMatrix& matrix, const SparseBlocking& b) {
  ActRanges out{b.parts, {}};
  out.ranges.reserve(static_cast<std::size_t>(b.grid_rows) * static_cast<std::size_t>(b.parts));
  for (std::int32_t core = 0; core < b.grid_rows; ++core)
    for (std::int32_t part = 0; part < b.parts; ++part) {
      ActRange range;
      for (std::int32_t row = 0; row < b.mblock_m * b.ublock_rt; ++row) {
        const auto products = matrix.of_row(matrix_row(matrix, b, core, part, row));
        if (products.empty()) continue;
        range = {std::min(range.first, products.front().act), std::max(range.last, products.back().act)};
      }
      out.ranges.push_back(range);
    }
  return out;
}

SparsePasses sparse_passes(const ActRanges& acts, std::int32_t u_kt, std::int32_t all_acts) {
  const std::int32_t all_strips = all_acts / u_kt;
  const auto parts = static_cast<std::size_t>(acts.parts);
  std::vector<ActRange> strips(parts);  // of all cores
  SparsePasses out{1, 0};
  for (std::size_t begin = 0; begin < acts.ranges.size(); begin += parts) {
    Passes passes;
    for (std::size_t part = 0; part < parts; ++part) {
      const ActRange& of_core = acts.ranges[begin + part];
      if (of_core.last < 0) continue;
      const std::int32_t first = of_core.first / u_kt, last = of_core.last / u_kt;
      passes.take(first, last);
      const std::int32_t before = (passes.count() - 1) * all_strips;
      strips[part] = {std::min(strips[part].first, before + first), std::max(strips[part].last, before + last)};
    }
    out.passes = std::max(out.passes, passes.count());
  }
  for (const ActRange& range : strips)
    if (range.last >= 0) out.reach = std::max(out.reach, range.last - range.first + 1);
  return out;
}

std::variant<SparseUse, std::string> sparse_use(const SelectionMatrix& matrix, const SparseBlocking& b) {
  SparseUse use;
  std::int32_t longest = 0, most_of_ublock = 0;
  std::vector<std::int32_t> seen(matrix.tiles.size(), -1);
  for (std::int32_t core = 0; core < b.grid_rows; ++core) {
    const CoreUse of_core = use_of_core(matrix, b, core, seen);
    use.tiles = std::max(use.tiles, of_core.tiles);
    use.index_tiles = std::max(use.index_tiles, of_core.index_tiles);
    use.products = std::max(use.products, of_core.products);
    use.ublocks = std::max(use.ublocks, of_core.ublocks);
    use.strips = std::max(use.strips, of_core.strips);
    longest = std::max(longest, of_core.longest);
    most_of_ublock = std::max(most_of_ublock, of_core.most_of_ublock);
  }
  const SparsePasses passes = sparse_passes(act_ranges(matrix, b), b.u_kt, matrix.act_matrices * matrix.act_rows);
  use.passes = passes.passes;
  use.reach = passes.reach;
  use.tiles = std::max(use.tiles, 1);
  use.tile_bits = bits_for_count(use.tiles);
  use.ublock_bits = bits_for_count(b.mblock_m);
  const int place_bits = (b.ublock_rt == 1 ? 0 : bits_for_count(b.ublock_rt)) + bits_for_count(b.u_kt);
  if (use.tile_bits + place_bits > kWordBits)
    return cat(use.tiles, " distinct sparse tiles take ", use.tile_bits, " bits of an index, and a place in ", b.ublock_rt, " by ", b.u_kt,
               " tiles ", place_bits, "; together they may have ", kWordBits);
  if (use.ublock_bits >= kWordBits || most_of_ublock > 1 << (kWordBits - use.ublock_bits))
    return cat(most_of_ublock, " products of one of ", b.mblock_m, " rows of ublocks cannot be counted in an index of ", kWordBits,
               " bits");
  if (longest > kIndexTileBytes) return cat("the products of a strip take ", longest, " bytes, and an index tile has ", kIndexTileBytes);
  return use;
}

std::int32_t min_index_tiles(const SparseUse& use) {
  return static_cast<std::int32_t>(std::max<std::int64_t>(1, (use.products * kWord + kIndexTileBytes - 1) / kIndexTileBytes));
}

EncodedSelection encode_selection(const SelectionMatrix& matrix, const SparseBlocking& b, const SparseUse& use) {
  const std::int64_t height = std::int64_t{kSide} * b.grid_rows;
  std::vector<float> tiles(static_cast<std::size_t>(height * kSide * use.tiles), 0.0f);
  std::vector<std::int32_t> words(static_cast<std::size_t>(height * kSide * use.index_tiles), 0);
  for (std::int32_t core = 0; core < b.grid_rows; ++core) {
    const CoreProducts products = products_of_core(matrix, b, core);
    for (std::size_t i = 0; i < products.tiles.size(); ++i) {
      const std::size_t start = tile_start(core, static_cast<std::int32_t>(i), use.tiles);
      for (const auto& [place, value] : matrix.tiles[static_cast<std::size_t>(products.tiles[i])])
        tiles[start + static_cast<std::size_t>(place / kSide * kSide * use.tiles + place % kSide)] = value;
    }
    const auto encoded = netlist::encode_sparse(geometry(b, use), products.products, kIndexTileBytes);
    const auto& bytes = std::get<0>(encoded);
    for (std::size_t i = 0; i + 4 <= bytes.size(); i += 4) {
      const auto word = static_cast<std::uint32_t>(bytes[i]) | static_cast<std::uint32_t>(bytes[i + 1]) << 8 |
                        static_cast<std::uint32_t>(bytes[i + 2]) << 16 | static_cast<std::uint32_t>(bytes[i + 3]) << 24;
      const auto tile = static_cast<std::int32_t>(i / kIndexTileBytes), in_tile = static_cast<std::int32_t>(i % kIndexTileBytes / 4);
      words[tile_start(core, tile, use.index_tiles) +
            static_cast<std::size_t>(in_tile / kSide * kSide * use.index_tiles + in_tile % kSide)] = static_cast<std::int32_t>(word);
    }
  }
  return {Tensor(Shape{1, 1, height, std::int64_t{kSide} * use.tiles}, std::move(tiles)),
          Tensor(Shape{1, 1, height, std::int64_t{kSide} * use.index_tiles}, std::move(words))};
}

}  // namespace buda::balance
