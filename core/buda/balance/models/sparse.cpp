// The products of each core, counted and encoded.
#include <buda/balance/models/sparse.hpp>

#include <buda/base/text.hpp>
#include <buda/netlist/model/sparse_encoding.hpp>

#include <algorithm>
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
  std::int32_t passes = 1;
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

CoreProducts products_of_core(const SelectionMatrix& matrix, const SparseBlocking& b, std::int32_t core) {
  CoreProducts out;
  std::vector<std::int32_t> own(matrix.tiles.size(), -1);
  const std::int32_t per_core = b.mblock_m * b.ublock_rt, rows_of_part = matrix.rows / b.parts;
  const std::int32_t all_acts = matrix.act_matrices * matrix.act_rows;
  std::vector<std::size_t> by_strip(static_cast<std::size_t>(all_acts / b.u_kt));
  std::vector<SparseProduct> of_part;
  std::int32_t last_strip = 0;
  for (std::int32_t part = 0; part < b.parts; ++part) {
    of_part.clear();
    for (std::int32_t row = 0; row < per_core; ++row) {
      const std::int32_t held = core * per_core + row;
      const std::int32_t of = held / rows_of_part * matrix.rows + part * rows_of_part + held % rows_of_part;
      for (const auto& p : matrix.of_row(of)) {
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
    if (out.products[begin].act / b.u_kt < last_strip) ++out.passes;
    last_strip = out.products.back().act / b.u_kt;
    for (std::size_t i = begin; i < out.products.size(); ++i) out.products[i].act += (out.passes - 1) * all_acts;
  }
  return out;
}

// Index tiles that encode_sparse will need, and what decides whether the encoding has room.
struct IndexRoom {
  std::int32_t tiles = 1;
  std::int64_t strips = 0, ublocks = 0;
  std::int32_t longest = 0;         // bytes of a strip
  std::int32_t most_of_ublock = 0;  // products of one row of ublocks in a strip
};
IndexRoom index_room(const CoreProducts& core, const SparseBlocking& b) {
  IndexRoom out;
  std::int32_t used = 0;
  auto add = [&](std::int32_t bytes) {
    out.longest = std::max(out.longest, bytes);
    if (used + bytes > kIndexTileBytes) {
      ++out.tiles;
      used = 0;
    }
    used += bytes;
  };
  std::vector<std::int32_t> of_ublock(static_cast<std::size_t>(b.mblock_m), 0);
  std::size_t next = 0;
  for (std::int32_t part = 0; part < b.parts; ++part) {
    // A part of zeros has a strip, too, with nothing in it.
    if (next == core.products.size() || core.products[next].t != part) add(kStripHead);
    while (next < core.products.size() && core.products[next].t == part) {
      const std::int32_t strip = core.products[next].act / b.u_kt;
      std::fill(of_ublock.begin(), of_ublock.end(), 0);
      std::int32_t words = 0;
      for (; next < core.products.size() && core.products[next].t == part && core.products[next].act / b.u_kt == strip; ++next) {
        std::int32_t& count = of_ublock[static_cast<std::size_t>(core.products[next].row / b.ublock_rt)];
        words += count == 0 ? 2 : 1;
        out.ublocks += count == 0 ? 1 : 0;
        out.most_of_ublock = std::max(out.most_of_ublock, ++count);
      }
      ++out.strips;
      add(kStripHead + kWord * words);
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

std::variant<SparseUse, std::string> sparse_use(const SelectionMatrix& matrix, const SparseBlocking& b) {
  SparseUse use;
  std::int32_t longest = 0, most_of_ublock = 0;
  for (std::int32_t core = 0; core < b.grid_rows; ++core) {
    const CoreProducts products = products_of_core(matrix, b, core);
    const IndexRoom room = index_room(products, b);
    use.passes = std::max(use.passes, products.passes);
    use.tiles = std::max(use.tiles, static_cast<std::int32_t>(products.tiles.size()));
    use.index_tiles = std::max(use.index_tiles, room.tiles);
    use.products = std::max(use.products, static_cast<std::int64_t>(products.products.size()));
    use.ublocks = std::max(use.ublocks, room.ublocks);
    use.strips = std::max(use.strips, room.strips);
    longest = std::max(longest, room.longest);
    most_of_ublock = std::max(most_of_ublock, room.most_of_ublock);
  }
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
