// SPDX-License-Identifier: Apache-2.0
// Reading and writing of index tiles.
#include <buda/netlist/model/sparse_encoding.hpp>

#include <buda/base/text.hpp>

#include <algorithm>
#include <tuple>

namespace buda::netlist {
namespace {

using Bytes = std::vector<std::uint8_t>;
using Products = std::vector<SparseProduct>;

constexpr std::uint32_t kLastStrip = 1u << 30, kNextTile = 1u << 31, kStripIndex = kLastStrip - 1;
constexpr std::uint32_t kPush = 1u << 26, kContinue = 1u << 27, kLoop = 1u << 28, kControl = 1u << 29, kLastOfBlock = 1u << 30,
                        kLastOfRow = 1u << 31;
constexpr std::uint32_t kLowBits = 0xffff, kRowShift = 16, kRowBits = 0x1fff;
// Products beyond which an encoding is taken for nonsense: a loop of words that never ends.
constexpr std::size_t kMaxProducts = std::size_t{1} << 24;

// Bits that numbers up to `most` need, at least one.
int bits_for(std::int32_t most) {
  int bits = 1;
  while ((most >> bits) > 0) ++bits;
  return bits;
}

class StripReader {
 public:
  StripReader(const SparseGeometry& g, std::span<const std::uint8_t> bytes, std::size_t tile_bytes)
      : g_(g), bytes_(bytes), tile_bytes_(tile_bytes) {}

  SparseResult<Products> run() {
    for (std::int32_t t = 0; t < g_.t;) {
      const std::uint32_t head = word(at_) | word(at_ + 2) << 16;
      const std::uint32_t ublocks = word(at_ + 4);
      at_ += 6;
      for (std::uint32_t u = 0; u < ublocks && error_.empty(); ++u) ublock(t, head & kStripIndex);
      if (!error_.empty()) return error_;
      if ((head & kNextTile) != 0) {
        start_ += tile_bytes_;
        at_ = start_;
      }
      if ((head & kLastStrip) != 0) ++t;
    }
    return std::move(out_);
  }

 private:
  std::uint32_t word(std::size_t at) {
    if (at + 2 > bytes_.size()) {
      if (error_.empty()) error_ = cat("its strips go on beyond byte ", bytes_.size(), ", the end of the index tiles");
      return 0;
    }
    return static_cast<std::uint32_t>(bytes_[at] | bytes_[at + 1] << 8);
  }

  void ublock(std::int32_t t, std::uint32_t strip) {
    const std::uint32_t head = word(at_);
    at_ += 2;
    const auto row = static_cast<std::int32_t>(head & ((1u << g_.ublock_bits) - 1));
    std::uint32_t tiles = head >> g_.ublock_bits;
    if (tiles == 0) tiles = 1u << (16 - g_.ublock_bits);
    if (row >= g_.mblock_m && error_.empty()) error_ = cat("strip ", strip, " adds to ublock row ", row, " of ", g_.mblock_m);
    for (std::uint32_t i = 0; i < tiles && error_.empty(); ++i, at_ += 2) tile(t, strip, row, word(at_));
  }

  void tile(std::int32_t t, std::uint32_t strip, std::int32_t ublock_row, std::uint32_t code) {
    const std::uint32_t place = code & ((1u << (16 - g_.tile_bits)) - 1);
    const auto row = static_cast<std::int32_t>(place >> g_.inner_bits), k = static_cast<std::int32_t>(place & ((1u << g_.inner_bits) - 1));
    const std::uint64_t act = std::uint64_t{strip} * static_cast<std::uint64_t>(g_.u_kt) + static_cast<std::uint64_t>(k);
    if (!error_.empty()) return;
    if (row >= g_.ublock_rt || k >= g_.u_kt || act > 0x7fffffff) {
      error_ = cat("strip ", strip, " has a tile at row ", row, " and inner place ", k, " of a ublock of ", g_.ublock_rt, " by ", g_.u_kt);
      return;
    }
    if (out_.size() >= kMaxProducts) {
      error_ = cat("it lists more than ", kMaxProducts, " products");
      return;
    }
    out_.push_back({t, ublock_row * g_.ublock_rt + row, static_cast<std::int32_t>(act),
                    static_cast<std::int32_t>(g_.tile_bits == 0 ? 0 : code >> (16 - g_.tile_bits)), -1});
  }

  const SparseGeometry& g_;
  std::span<const std::uint8_t> bytes_;
  std::size_t tile_bytes_;
  std::size_t start_ = 0, at_ = 0;
  Products out_;
  std::string error_;
};

class WordReader {
 public:
  WordReader(const SparseGeometry& g, std::span<const std::uint8_t> bytes) : g_(g), bytes_(bytes) {}

  SparseResult<Products> run() {
    if (static_cast<std::size_t>(g_.length) > bytes_.size() / 4)
      return cat("indices_len is ", g_.length, ", but the index tiles have ", bytes_.size() / 4, " words");
    const auto length = static_cast<std::size_t>(g_.length);
    row_ = static_cast<std::uint32_t>(g_.starting_row);
    std::uint32_t loops = 0;
    // Every pass takes a word, but for jumps, of which there are no more than a loop counts; the bound on products ends the others.
    for (std::size_t passes = 0; at_ < length && passes < kMaxProducts; ++passes) {
      const std::uint32_t head = word(at_++);
      if ((head & kControl) != 0) {
        if ((head & kLoop) != 0) {
          loops = head & kLowBits;
        } else if ((head & kContinue) != 0) {
          if (loops > 0 && --loops > 0) at_ = head & kLowBits;
        } else if ((head & kPush) != 0) {
          continue;
        }
      }
      for (std::int32_t n = 0; n < g_.mblock_n; ++n) {
        if (auto error = block(n); !error.empty()) return error;
      }
      ++block_row_;
    }
    return std::move(out_);
  }

 private:
  std::uint32_t word(std::size_t i) const {
    const std::uint8_t* b = bytes_.data() + i * 4;
    return b[0] | static_cast<std::uint32_t>(b[1]) << 8 | static_cast<std::uint32_t>(b[2]) << 16 | static_cast<std::uint32_t>(b[3]) << 24;
  }

  std::string block(std::int32_t n) {
    for (bool last_of_block = false; !last_of_block;) {
      for (std::int32_t r = 0; r < g_.ublock_rt; ++r) {
        for (bool last_of_row = false; !last_of_row;) {
          if (at_ >= bytes_.size() / 4) return cat("its words go on beyond word ", at_, ", the end of the index tiles");
          const std::uint32_t code = word(at_++);
          const auto rows = static_cast<std::uint32_t>(g_.rows());
          if (row_ / rows >= static_cast<std::uint32_t>(g_.t)) return cat("word ", at_ - 1, " adds to output row ", row_);
          if (out_.size() >= kMaxProducts) return cat("it lists more than ", kMaxProducts, " products");
          out_.push_back({static_cast<std::int32_t>(row_ / rows), static_cast<std::int32_t>(row_ % rows), block_row_ * g_.ublock_rt + r,
                          static_cast<std::int32_t>(code & kLowBits), n});
          row_ = code >> kRowShift & kRowBits;
          last_of_row = (code & kLastOfRow) != 0;
          last_of_block = (code & kLastOfBlock) != 0;
        }
      }
    }
    return {};
  }

  const SparseGeometry& g_;
  std::span<const std::uint8_t> bytes_;
  std::size_t at_ = 0;
  std::uint32_t row_ = 0;
  std::int32_t block_row_ = 0;
  Products out_;
};

// One strip's words.
using Words = std::vector<std::uint16_t>;

class StripWriter {
 public:
  StripWriter(const SparseGeometry& g, std::size_t tile_bytes) : g_(g), tile_bytes_(tile_bytes) {}

  SparseResult<Bytes> run(std::span<const SparseProduct> products) {
    std::size_t next = 0;
    std::int32_t last_strip = 0;
    for (std::int32_t t = 0; t < g_.t; ++t) {
      const std::size_t first = next;
      while (next < products.size() && products[next].t == t) {
        const std::int32_t strip = products[next].act / g_.u_kt;
        Products part;
        for (; next < products.size() && products[next].t == t && products[next].act / g_.u_kt == strip; ++next)
          part.push_back(products[next]);
        const bool last = next == products.size() || products[next].t != t;
        if (auto error = append(strip, std::move(part), last); !error.empty()) return error;
        last_strip = strip;
      }
      // A matrix of zeros has a strip too, with nothing in it.
      if (next == first)
        if (auto error = append(last_strip, {}, true); !error.empty()) return error;
    }
    if (next != products.size()) return std::string("the products are not in ascending order of t");
    pad();
    return std::move(out_);
  }

 private:
  std::string append(std::int32_t strip, Products products, bool last) {
    std::stable_sort(products.begin(), products.end(),
                     [&](const SparseProduct& a, const SparseProduct& b) { return std::tuple(a.row, a.act) < std::tuple(b.row, b.act); });
    Words words;
    std::uint16_t ublocks = 0;
    const int place_bits = 16 - g_.tile_bits;
    for (std::size_t i = 0; i < products.size();) {
      const std::int32_t ublock = products[i].row / g_.ublock_rt;
      const std::size_t head = words.size();
      words.push_back(0);
      std::size_t tiles = 0;
      for (; i < products.size() && products[i].row / g_.ublock_rt == ublock; ++i, ++tiles) {
        const SparseProduct& p = products[i];
        const auto place = static_cast<std::uint32_t>(p.row % g_.ublock_rt) << g_.inner_bits | static_cast<std::uint32_t>(p.act % g_.u_kt);
        if (p.row < 0 || p.row >= g_.rows() || place >> place_bits != 0 || static_cast<std::uint32_t>(p.tile) >> g_.tile_bits != 0)
          return cat("sparse tile ", p.tile, " for output row ", p.row, " does not fit into sparse_tile_ptr_bits ", g_.tile_bits);
        words.push_back(static_cast<std::uint16_t>(static_cast<std::uint32_t>(p.tile) << place_bits | place));
      }
      const std::size_t most = std::size_t{1} << (16 - g_.ublock_bits);
      if (tiles > most || ublock >> g_.ublock_bits != 0)
        return cat("ublock row ", ublock, " with ", tiles, " tiles does not fit into sparse_ublock_idx_bits ", g_.ublock_bits);
      words[head] = static_cast<std::uint16_t>((tiles % most) << g_.ublock_bits | static_cast<std::size_t>(ublock));
      ++ublocks;
    }
    const std::size_t bytes = 6 + words.size() * 2;
    if (bytes > tile_bytes_) return cat("strip ", strip, " takes ", bytes, " bytes, more than an index tile's ", tile_bytes_);
    if (out_.size() - tile_start_ + bytes > tile_bytes_) {
      out_[last_head_ + 3] |= static_cast<std::uint8_t>(kNextTile >> 24);
      pad();
    }
    last_head_ = out_.size();
    const std::uint32_t head = static_cast<std::uint32_t>(strip) | (last ? kLastStrip : 0);
    put(static_cast<std::uint16_t>(head));
    put(static_cast<std::uint16_t>(head >> 16));
    put(ublocks);
    for (std::uint16_t w : words) put(w);
    return {};
  }

  void put(std::uint16_t word) {
    out_.push_back(static_cast<std::uint8_t>(word));
    out_.push_back(static_cast<std::uint8_t>(word >> 8));
  }
  void pad() {
    if (!out_.empty()) out_.resize((out_.size() + tile_bytes_ - 1) / tile_bytes_ * tile_bytes_);
    tile_start_ = out_.size();
  }

  const SparseGeometry& g_;
  std::size_t tile_bytes_;
  std::size_t tile_start_ = 0, last_head_ = 0;
  Bytes out_;
};

SparseResult<Bytes> write_words(const SparseGeometry& g, std::span<const SparseProduct> products, std::size_t tile_bytes) {
  std::vector<std::uint32_t> words;
  std::size_t next = 0;
  auto there = [&](std::int32_t act, std::int32_t n) {
    return next < products.size() && products[next].act == act && products[next].column == n;
  };
  for (std::int32_t block = 0; next < products.size(); ++block) {
    words.push_back(kControl);
    for (std::int32_t n = 0; n < g.mblock_n; ++n) {
      for (std::int32_t r = 0; r < g.ublock_rt; ++r) {
        const std::int32_t act = block * g.ublock_rt + r;
        if (!there(act, n)) return cat("row ", act, " of the activations has no product in ublock column ", n);
        while (there(act, n)) {
          const SparseProduct& p = products[next++];
          const std::int32_t after = next < products.size() ? products[next].t * g.rows() + products[next].row : 0;
          if (p.tile < 0 || p.tile > static_cast<std::int32_t>(kLowBits) || after < 0 || after > static_cast<std::int32_t>(kRowBits))
            return cat("sparse tile ", p.tile, " or output row ", after, " is too large for this encoding");
          words.push_back(static_cast<std::uint32_t>(p.tile) | static_cast<std::uint32_t>(after) << kRowShift |
                          (there(act, n) ? 0 : kLastOfRow) | (there(act, n) || r + 1 < g.ublock_rt ? 0 : kLastOfBlock));
        }
      }
    }
  }
  if (words.size() > static_cast<std::size_t>(g.length)) return cat("they take ", words.size(), " words, indices_len is ", g.length);
  words.resize(static_cast<std::size_t>(g.length), kControl | kPush);
  Bytes out;
  for (std::uint32_t w : words)
    for (int shift = 0; shift < 32; shift += 8) out.push_back(static_cast<std::uint8_t>(w >> shift));
  out.resize((out.size() + tile_bytes - 1) / tile_bytes * tile_bytes);
  return out;
}

}  // namespace

SparseResult<SparseGeometry> sparse_geometry(const Op& op) {
  const SparseEncoding& s = op.attributes.sparse;
  SparseGeometry g;
  g.t = op.block.t;
  g.mblock_m = op.block.mblock_m;
  g.mblock_n = op.block.mblock_n;
  g.ublock_rt = op.block.ublock_rt;
  g.u_kt = std::max(op.attributes.u_kt, 1);
  g.inner_bits = bits_for(g.u_kt - 1);
  g.length = s.indices_len;
  g.starting_row = s.starting_row;
  if (s.sparse_tile_ptr_bits == 0 && s.indices_len > 0) {
    g.form = SparseGeometry::Form::words;
    return g;
  }
  const int row_bits = g.ublock_rt == 1 ? 0 : bits_for(g.ublock_rt - 1);
  const bool given = s.sparse_tile_ptr_bits > 0;
  g.tile_bits = given ? s.sparse_tile_ptr_bits : 16 - row_bits - g.inner_bits;
  g.ublock_bits = s.sparse_ublock_idx_bits > 0 ? s.sparse_ublock_idx_bits : given ? s.sparse_tile_ptr_bits : bits_for(g.mblock_m - 1);
  if (g.tile_bits < 0 || 16 - g.tile_bits < row_bits + g.inner_bits)
    return cat("sparse_tile_ptr_bits is ", g.tile_bits, ": the ", std::max(16 - g.tile_bits, 0), " bits left cannot hold a place in ",
               g.ublock_rt, " rows of ", g.u_kt, " tiles");
  if (g.ublock_bits > 15 || (g.mblock_m > 1 && g.ublock_bits < bits_for(g.mblock_m - 1)))
    return cat("sparse_ublock_idx_bits is ", g.ublock_bits, ", which does not leave room for both ", g.mblock_m,
               " rows and a number of tiles");
  return g;
}

SparseResult<Products> decode_sparse(const SparseGeometry& geometry, std::span<const std::uint8_t> bytes, std::size_t tile_bytes) {
  return geometry.form == SparseGeometry::Form::strips ? StripReader(geometry, bytes, tile_bytes).run() : WordReader(geometry, bytes).run();
}

SparseResult<Bytes> encode_sparse(const SparseGeometry& geometry, std::span<const SparseProduct> products, std::size_t tile_bytes) {
  return geometry.form == SparseGeometry::Form::strips ? StripWriter(geometry, tile_bytes).run(products)
                                                       : write_words(geometry, products, tile_bytes);
}

}  // namespace buda::netlist
