// SPDX-License-Identifier: Apache-2.0
// Sparse matmuls on cores: what is encoded, read again as a device reads it, selects what the selection matrix says.
#include <buda/balance/models/sparse.hpp>

#include "unit/balance/fixture.hpp"

#include <buda/balance/models/encoded_selection.hpp>
#include <buda/base/rng.hpp>
#include <buda/base/text.hpp>
#include <buda/netlist/model/sparse_encoding.hpp>
#include <buda/tensor/tensor.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace buda::balance {
namespace {

using netlist::SparseProduct;
using ::testing::HasSubstr;

constexpr std::int32_t kSide = 32;
constexpr std::size_t kTileBytes = 4096;

std::string refusal(const SelectionMatrix& matrix, const SparseBlocking& b) {
  auto use = sparse_use(matrix, b);
  return std::holds_alternative<std::string>(use) ? std::get<std::string>(use) : "";
}

SparseUse use_of(const SelectionMatrix& matrix, const SparseBlocking& b) {
  EXPECT_EQ(refusal(matrix, b), "");
  auto use = sparse_use(matrix, b);
  return std::holds_alternative<SparseUse>(use) ? std::get<SparseUse>(use) : SparseUse{};
}

// The op that a device would be given.
netlist::Op op_of(const SparseBlocking& b, const SparseUse& use) {
  netlist::Op op;
  op.type = netlist::OpType::matmul;
  op.block.t = b.parts;
  op.block.mblock_m = b.mblock_m;
  op.block.ublock_rt = b.ublock_rt;
  op.attributes.identity = true;
  op.attributes.u_kt = b.u_kt;
  op.attributes.sparse.num_sparse_tiles = use.tiles;
  op.attributes.sparse.num_index_tiles = use.index_tiles;
  op.attributes.sparse.sparse_tile_ptr_bits = use.tile_bits;
  op.attributes.sparse.sparse_ublock_idx_bits = use.ublock_bits;
  return op;
}

// The index tiles of a row of cores as they lie in memory.
std::vector<std::uint8_t> index_bytes(const EncodedSelection& encoded, const SparseUse& use, std::int32_t core) {
  std::vector<std::uint8_t> out;
  const auto words = encoded.indices.as<std::int32_t>();
  const std::int32_t width = kSide * use.index_tiles;
  for (std::int32_t tile = 0; tile < use.index_tiles; ++tile)
    for (std::int32_t i = 0; i < kSide * kSide; ++i) {
      const auto at = (core * kSide + i / kSide) * width + tile * kSide + i % kSide;
      const auto word = static_cast<std::uint32_t>(words[static_cast<std::size_t>(at)]);
      for (int shift = 0; shift < 32; shift += 8) out.push_back(static_cast<std::uint8_t>(word >> shift));
    }
  return out;
}

std::vector<SparseProduct> decoded(const EncodedSelection& encoded, const SparseBlocking& b, const SparseUse& use, std::int32_t core) {
  auto geometry = netlist::sparse_geometry(op_of(b, use));
  if (const auto* why = std::get_if<std::string>(&geometry)) {
    ADD_FAILURE() << *why;
    return {};
  }
  auto products = netlist::decode_sparse(std::get<0>(geometry), index_bytes(encoded, use, core), kTileBytes);
  if (const auto* why = std::get_if<std::string>(&products)) {
    ADD_FAILURE() << *why;
    return {};
  }
  return std::get<0>(products);
}

// One column of activations through all cores: by row of the result, slice after slice. Fails where activations would have to go back.
std::vector<float> computed(const SelectionMatrix& m, const SparseBlocking& b, const SparseUse& use, const std::vector<float>& x) {
  const EncodedSelection encoded = encode_selection(m, b, use);
  const auto tiles = encoded.tiles.as<float>();
  const std::int32_t acts = m.act_matrices * m.act_rows, per_core = b.mblock_m * b.ublock_rt;
  const std::int32_t rows_of_band = m.rows / (b.parts * b.bands), all_of_band = rows_of_band * m.slices;
  std::vector<float> y(static_cast<std::size_t>(m.slices * m.rows * kSide), 0.0f);
  for (std::int32_t core = 0; core < b.grid_rows; ++core) {
    std::int32_t strip = 0;
    for (const SparseProduct& p : decoded(encoded, b, use, core)) {
      EXPECT_GE(p.act / b.u_kt, strip);
      strip = p.act / b.u_kt;
      EXPECT_LT(p.act, acts * use.passes);
      EXPECT_LT(p.tile, use.tiles);
      const std::int32_t held = core * per_core + p.row;
      const std::int32_t in_band = held % all_of_band, band = p.t * b.bands + held / all_of_band;
      const std::int32_t row = in_band / rows_of_band * m.rows + band * rows_of_band + in_band % rows_of_band;
      for (std::int32_t i = 0; i < kSide; ++i)
        for (std::int32_t k = 0; k < kSide; ++k)
          y[static_cast<std::size_t>(row * kSide + i)] +=
              tiles[static_cast<std::size_t>(((core * kSide + i) * use.tiles + p.tile) * kSide + k)] *
              x[static_cast<std::size_t>(p.act % acts * kSide + k)];
    }
  }
  return y;
}

// A selection with a few terms, weighted with small whole numbers, and what it makes of `x`.
struct Example {
  SelectionShape shape;
  Tensor picks, weights;
  std::vector<float> x, y;
};

Example random_example(std::uint64_t seed) {
  Rng rng(seed);
  Example e;
  const auto slices = static_cast<std::int32_t>(1 + rng.below(4)), terms = static_cast<std::int32_t>(1 + rng.below(3));
  e.shape = {slices, static_cast<std::int32_t>(1 + rng.below(12)), rng.below(3) == 0 ? slices : 1,
             static_cast<std::int32_t>(1 + rng.below(12))};
  const std::int32_t rows_in = e.shape.act_rows * kSide, columns = e.shape.rows * kSide;
  for (std::int32_t i = 0; i < rows_in * e.shape.act_matrices; ++i) e.x.push_back(static_cast<float>(rng.below(8)));
  e.y.assign(static_cast<std::size_t>(slices * columns), 0.0f);
  std::vector<std::int32_t> picks;
  std::vector<float> weights;
  const bool ascending = rng.below(2) == 0;
  for (std::int32_t term = 0; term < terms; ++term)
    for (std::int32_t slice = 0; slice < slices; ++slice)
      for (std::int32_t column = 0; column < columns; ++column) {
        const auto any = static_cast<std::int32_t>(rng.below(static_cast<std::uint64_t>(rows_in)));
        const std::int32_t row = ascending ? std::min(column * rows_in / columns + slice, rows_in - 1) : any;
        const bool none = rng.below(4) == 0;
        picks.push_back(none ? 0 : row + 1);
        weights.push_back(static_cast<float>(1 + rng.below(3)));
        if (none) continue;
        const std::int32_t matrix = e.shape.act_matrices == 1 ? 0 : slice;
        e.y[static_cast<std::size_t>(slice * columns + column)] += weights.back() * e.x[static_cast<std::size_t>(matrix * rows_in + row)];
      }
  e.picks = Tensor(Shape{1, 1, terms * slices, columns}, std::move(picks));
  e.weights = Tensor(Shape{1, 1, terms * slices, columns}, std::move(weights));
  return e;
}

// A way to divide the rows: what is left of them after parts and grid rows goes to mblocks and ublocks.
SparseBlocking random_blocking(Rng& rng, const SelectionShape& s) {
  auto divisor = [&](std::int32_t n) {
    std::int32_t d = 1;
    do d = static_cast<std::int32_t>(1 + rng.below(static_cast<std::uint64_t>(n)));
    while (n % d != 0);
    return d;
  };
  SparseBlocking b;
  b.parts = divisor(s.rows);
  const std::int32_t held = s.slices * s.rows / b.parts;
  b.grid_rows = divisor(held);
  b.ublock_rt = divisor(held / b.grid_rows);
  b.mblock_m = held / b.grid_rows / b.ublock_rt;
  b.u_kt = divisor(s.act_rows);
  b.bands = divisor(s.rows / b.parts);
  return b;
}

TEST(SparseMatmul, WhatIsEncodedIsTheSelection) {
  int several_passes = 0, streamed = 0, banded = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const Example e = random_example(seed);
    auto matrix = selection_matrix({&e.picks, &e.weights, e.shape.slices}, e.shape);
    ASSERT_TRUE(matrix.ok());
    Rng rng(seed);
    for (int round = 0; round < 4; ++round) {
      const SparseBlocking b = random_blocking(rng, e.shape);
      SCOPED_TRACE(cat("seed ", seed, ", round ", round, ": ", b.parts, " parts, ", b.grid_rows, " grid rows, mblock ", b.mblock_m,
                       ", ublock ", b.ublock_rt, ", u_kt ", b.u_kt, ", ", b.bands, " bands"));
      const SparseUse use = use_of(*matrix, b);
      ASSERT_EQ(computed(*matrix, b, use, e.x), e.y);
      several_passes += use.passes > 1 ? 1 : 0;
      streamed += b.parts > 1 ? 1 : 0;
      banded += b.bands > 1 ? 1 : 0;
    }
  }
  EXPECT_GT(several_passes, 20);
  EXPECT_GT(streamed, 100);
  EXPECT_GT(banded, 50);
}

// ---- matrices made up: row r of the result is the sum of tile rows acts[r], each times a tile of its own number

SelectionMatrix made_up(std::int32_t act_rows, const std::vector<std::vector<std::pair<std::int32_t, std::int32_t>>>& acts_and_tiles) {
  SelectionMatrix m;
  m.rows = static_cast<std::int32_t>(acts_and_tiles.size());
  m.act_rows = act_rows;
  std::int32_t most = 0;
  for (std::size_t row = 0; row < acts_and_tiles.size(); ++row) {
    m.first.push_back(m.products.size());
    for (const auto& [act, tile] : acts_and_tiles[row]) {
      m.products.push_back({static_cast<std::int32_t>(row), act, tile});
      most = std::max(most, tile);
    }
  }
  m.first.push_back(m.products.size());
  m.tiles.assign(static_cast<std::size_t>(most + 1), {{0, 1.0f}});
  return m;
}

// One row of the result, of so many activations with tiles of so many numbers.
SelectionMatrix one_row(std::int32_t acts, std::int32_t tiles) {
  std::vector<std::pair<std::int32_t, std::int32_t>> row;
  for (std::int32_t i = 0; i < acts; ++i) row.emplace_back(i, i % tiles);
  return made_up(acts, {row});
}

TEST(SparseMatmul, ActivationsAreSentAgainInsteadOfGoingBack) {
  const SelectionMatrix downwards = made_up(4, {{{0, 0}}, {{1, 0}}, {{2, 0}}, {{3, 0}}});
  const SelectionMatrix upwards = made_up(4, {{{3, 0}}, {{2, 0}}, {{1, 0}}, {{0, 0}}});
  EXPECT_EQ(use_of(downwards, {4, 1, 1, 1, 1}).passes, 1);
  EXPECT_EQ(use_of(upwards, {1, 1, 4, 1, 1}).passes, 1) << "within a part their order is free";
  EXPECT_EQ(use_of(upwards, {4, 1, 1, 1, 1}).passes, 4);
  EXPECT_EQ(use_of(upwards, {2, 1, 2, 1, 1}).passes, 2);
  EXPECT_EQ(use_of(upwards, {4, 1, 1, 1, 2}).passes, 2) << "of two tile rows in a strip either comes first";
  EXPECT_EQ(use_of(upwards, {4, 1, 1, 1, 4}).passes, 1);
}

TEST(SparseMatmul, BandsNeedTheStripsOfAllCoresAtATime) {
  // Two slices of four rows, each of the activation of its number.
  SelectionMatrix m = made_up(4, {{{0, 0}}, {{1, 0}}, {{2, 0}}, {{3, 0}}, {{0, 0}}, {{1, 0}}, {{2, 0}}, {{3, 0}}});
  m.slices = 2;
  m.rows = 4;
  EXPECT_EQ(use_of(m, {1, 2, 4, 1, 1}).strips, 4) << "slice by slice, each core needs all";
  EXPECT_EQ(use_of(m, {1, 2, 4, 1, 1, 2}).strips, 2) << "in bands, each core needs half of them";
  EXPECT_EQ(use_of(m, {1, 2, 4, 1, 1, 2}).reach, 4);
  EXPECT_EQ(use_of(m, {2, 2, 2, 1, 1, 2}).reach, 2) << "a part is half of the rows";
  EXPECT_EQ(use_of(m, {1, 2, 4, 1, 2, 2}).reach, 2) << "of two tile rows";
}

TEST(SparseMatmul, TheCoreThatNeedsMostCounts) {
  // Two cores: one product of one tile, and three products of two.
  const SelectionMatrix m = made_up(4, {{{0, 0}}, {{0, 0}, {1, 1}, {3, 1}}});
  const SparseUse use = use_of(m, {1, 2, 1, 1, 2});
  EXPECT_EQ(use.tiles, 2);
  EXPECT_EQ(use.tile_bits, 1);
  EXPECT_EQ(use.products, 3);
  EXPECT_EQ(use.strips, 2);
  EXPECT_EQ(use.ublocks, 2);
  EXPECT_EQ(use.index_tiles, 1);
}

TEST(SparseMatmul, StripsDoNotCrossIndexTiles) {
  // 64 strips of 6 + 64 * 4 bytes: 15 of them are all that a tile holds.
  std::vector<std::vector<std::pair<std::int32_t, std::int32_t>>> rows(64);
  for (auto& row : rows)
    for (std::int32_t act = 0; act < 64; ++act) row.emplace_back(act, 0);
  const SparseBlocking blocking{1, 1, 64, 1, 1};
  const SelectionMatrix m = made_up(64, rows);
  const SparseUse use = use_of(m, blocking);
  EXPECT_EQ(use.index_tiles, 5);
  EXPECT_EQ(use.strips, 64);
  EXPECT_EQ(use.ublocks, 64 * 64);
  EXPECT_EQ(decoded(encode_selection(m, blocking, use), blocking, use, 0).size(), 64u * 64u);
}

TEST(SparseMatmul, IndicesHaveAsManyBitsAsTheyHave) {
  EXPECT_EQ(use_of(one_row(1 << 15, 1 << 15), {}).tile_bits, 15);
  EXPECT_THAT(refusal(one_row((1 << 15) + 1, (1 << 15) + 1), {}),
              HasSubstr("32769 distinct sparse tiles take 16 bits of an index, and a place in 1 by 1 tiles 1; together they may have 16"));
  EXPECT_THAT(refusal(one_row(1 << 15, 1 << 15), {1, 1, 1, 1, 4}), HasSubstr("a place in 1 by 4 tiles 2"));
  // 10 bits for 1,024 rows of ublocks leave 6 for the number of products: 64 of them are written as 0.
  std::vector<std::vector<std::pair<std::int32_t, std::int32_t>>> rows(1024);
  for (std::int32_t act = 0; act < 64; ++act) rows[0].emplace_back(act, 0);
  const SparseBlocking blocking{1, 1, 1024, 1, 128};
  const SelectionMatrix most = made_up(128, rows);
  const SparseUse use = use_of(most, blocking);
  EXPECT_EQ(decoded(encode_selection(most, blocking, use), blocking, use, 0).size(), 64u);
  rows[0].emplace_back(64, 0);
  EXPECT_THAT(refusal(made_up(128, rows), blocking), HasSubstr("65 products of one of 1024 rows of ublocks cannot be counted"));
  // A strip of 4,096 bytes: head, one row of ublocks, 2,044 products.
  EXPECT_EQ(use_of(one_row(2044, 1), {1, 1, 1, 1, 2044}).index_tiles, 1);
  EXPECT_THAT(refusal(one_row(2045, 1), {1, 1, 1, 1, 2045}), HasSubstr("the products of a strip take 4098 bytes"));
}

// Each row of cores reads its tiles of an encoded selection: a core that reads many of them from one buffer keeps that channel busy.
TEST(EncodedSelection, ItsTilesAreDividedAmongChannels) {
  const auto buffers_for_a_row_of_cores = [](std::uint64_t divided_from) {
    DeviceGraph g;
    constexpr std::int64_t kRows = 512;
    std::vector<std::int32_t> rows;
    for (std::int32_t i = 0; i < kRows; ++i) rows.push_back(1 + i * 37 % kRows);
    auto x = g.input("x", {1, 1, kRows, 32}, {kRows, 32});
    auto picks = g.constant("picks", Tensor(Shape{1, 1, 1, kRows}, std::move(rows)));
    auto picked = g.op("picked", "matmul", {picks, x}, {1, 1, kRows, 32}, {{"identity", true}, {"slices", std::int64_t{1}}});
    g.output("y", picked, {kRows, 32});
    BalanceOptions options;
    options.queues.divided_from = divided_from;
    auto result = balance_with(g.graph, "n150", options, *some_policy(2));
    EXPECT_TRUE(result.ok());
    const netlist::Netlist& n = result->built.netlist;
    const auto queue =
        std::find_if(n.queues.begin(), n.queues.end(), [](const netlist::Queue& q) { return q.name.ends_with("sparse_tiles"); });
    return static_cast<double>(queue->grid.volume()) / n.graphs.at(0).ops.at(0).grid.rows;
  };
  EXPECT_EQ(buffers_for_a_row_of_cores(UINT64_MAX), 1);
  EXPECT_GT(buffers_for_a_row_of_cores(0), 1);
}

}  // namespace
}  // namespace buda::balance
