// SPDX-License-Identifier: Apache-2.0
// TMs against an independent model: matrices of labelled tiles that are really cut, concatenated and repeated.
#include <buda/netlist/model/tensor_maps.hpp>

#include <buda/base/rng.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace buda::netlist {
namespace {

using Matrix = std::vector<std::vector<std::int64_t>>;  // rows of labels; -1 is padding
using Tensor = std::vector<Matrix>;                     // one matrix per t

Tensor labelled(const TileShape& s) {
  Tensor out(static_cast<std::size_t>(s.t),
             Matrix(static_cast<std::size_t>(s.rt), std::vector<std::int64_t>(static_cast<std::size_t>(s.ct))));
  std::int64_t label = 0;
  for (auto& m : out)
    for (auto& row : m)
      for (auto& tile : row) tile = label++;
  return out;
}

Matrix transposed(const Matrix& m) {
  Matrix out(m[0].size(), std::vector<std::int64_t>(m.size()));
  for (std::size_t r = 0; r < m.size(); ++r)
    for (std::size_t c = 0; c < m[0].size(); ++c) out[c][r] = m[r][c];
  return out;
}
Matrix beside(Matrix a, const Matrix& b) {
  for (std::size_t r = 0; r < a.size(); ++r) a[r].insert(a[r].end(), b[r].begin(), b[r].end());
  return a;
}
Matrix above(Matrix a, const Matrix& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
// n pieces of equal height.
std::vector<Matrix> cut(const Matrix& m, std::size_t n) {
  std::vector<Matrix> out;
  std::size_t height = m.size() / n;
  for (std::size_t i = 0; i < n; ++i)
    out.emplace_back(m.begin() + static_cast<std::ptrdiff_t>(i * height), m.begin() + static_cast<std::ptrdiff_t>((i + 1) * height));
  return out;
}

Tensor moved(const Tensor& in, const Tm& tm) {
  auto n = static_cast<std::size_t>(tm.factor);
  Tensor out;
  switch (tm.kind) {
    case TmKind::broadcast:
      if (tm.dim == Dim::z) {
        for (std::size_t i = 0; i < n; ++i) out.insert(out.end(), in.begin(), in.end());
        return out;
      }
      for (const Matrix& m : in) {
        Matrix wide = m;
        for (std::size_t i = 1; i < n; ++i) wide = tm.dim == Dim::r ? above(wide, m) : beside(wide, m);
        out.push_back(wide);
      }
      return out;
    case TmKind::vslice:
      for (const Matrix& m : in)
        for (const Matrix& piece : cut(m, n)) out.push_back(piece);
      return out;
    case TmKind::hslice:
      for (const Matrix& m : in)
        for (const Matrix& piece : cut(transposed(m), n)) out.push_back(transposed(piece));
      return out;
    case TmKind::hstack:
    case TmKind::vstack:
      for (std::size_t i = 0; i < in.size(); i += n) {
        Matrix wide = in[i];
        for (std::size_t k = 1; k < n; ++k) wide = tm.kind == TmKind::hstack ? beside(wide, in[i + k]) : above(wide, in[i + k]);
        out.push_back(wide);
      }
      return out;
    case TmKind::transpose:
      for (const Matrix& m : in) out.push_back(transposed(m));
      return out;
    case TmKind::pad:
      for (Matrix m : in) {
        for (auto& row : m) row.resize(row.size() + static_cast<std::size_t>(tm.pad_ct), -1);
        m.resize(m.size() + static_cast<std::size_t>(tm.pad_rt), std::vector<std::int64_t>(m[0].size(), -1));
        out.push_back(m);
      }
      return out;
    case TmKind::tile_broadcast:
      return in;
  }
  return in;
}

void expect_same(const TileShape& producer, const EdgeMaps& maps) {
  Tensor model = labelled(producer);
  if (maps.unpad)
    for (Matrix& m : model) {
      m.resize(m.size() - static_cast<std::size_t>(maps.unpad->rt));
      for (auto& row : m) row.resize(row.size() - static_cast<std::size_t>(maps.unpad->ct));
    }
  std::string text;
  for (const Tm& tm : maps.tms) {
    model = moved(model, tm);
    text += tm.text() + ", ";
  }
  if (maps.pad) model = moved(model, Tm::pad(maps.pad->rt, maps.pad->ct, maps.pad->value));
  auto made = TileMap::make(producer, maps);
  ASSERT_TRUE(std::holds_alternative<TileMap>(made)) << text;
  const TileMap& map = std::get<TileMap>(made);
  ASSERT_EQ(map.shape(), (TileShape{static_cast<std::int64_t>(model.size()), static_cast<std::int64_t>(model[0].size()),
                                    static_cast<std::int64_t>(model[0][0].size())}))
      << text;
  for (std::int64_t t = 0; t < map.shape().t; ++t)
    for (std::int64_t r = 0; r < map.shape().rt; ++r)
      for (std::int64_t c = 0; c < map.shape().ct; ++c) {
        TileSource s = map.source({t, r, c});
        std::int64_t label = s.padding ? -1 : (s.tile.t * producer.rt + s.tile.r) * producer.ct + s.tile.c;
        ASSERT_EQ(label, model[static_cast<std::size_t>(t)][static_cast<std::size_t>(r)][static_cast<std::size_t>(c)])
            << text << t << ' ' << r << ' ' << c;
      }
}

TEST(TensorMaps, EachMovesTilesAsMatricesMove) {
  TileShape s{4, 6, 6};
  for (const Tm& tm : {Tm::broadcast(Dim::r, 3), Tm::broadcast(Dim::c, 2), Tm::broadcast(Dim::z, 2), Tm::hslice(3), Tm::vslice(2),
                       Tm::hstack(4), Tm::vstack(2), Tm::transpose(), Tm::pad(2, 1, 0.5), Tm::tile_broadcast(Dim::r)})
    expect_same(s, {std::nullopt, {tm}, std::nullopt});
  expect_same({2, 3, 5}, {std::nullopt, {Tm::transpose()}, std::nullopt});
  expect_same({2, 3, 5}, {Unpad{1, 2}, {Tm::hslice(3), Tm::vstack(2)}, Pad{1, 2, 0}});
}

TEST(TensorMaps, ChainsMoveTilesAsMatricesMove) {
  Rng rng(3);
  for (int round = 0; round < 200; ++round) {
    TileShape producer{static_cast<std::int64_t>(1 + rng.below(4)), static_cast<std::int64_t>(1 + rng.below(6)),
                       static_cast<std::int64_t>(1 + rng.below(6))};
    EdgeMaps maps;
    TileShape s = producer;
    if (rng.below(4) == 0 && s.rt > 1 && s.ct > 1) {
      maps.unpad = Unpad{1, 1};
      s.rt -= 1;
      s.ct -= 1;
    }
    for (int i = 0; i < 4; ++i) {
      auto n = static_cast<std::int32_t>(1 + rng.below(3));
      const Tm choices[] = {Tm::broadcast(Dim::r, n),
                            Tm::broadcast(Dim::c, n),
                            Tm::broadcast(Dim::z, n),
                            Tm::hslice(n),
                            Tm::vslice(n),
                            Tm::hstack(n),
                            Tm::vstack(n),
                            Tm::transpose()};
      const Tm& tm = choices[rng.below(std::size(choices))];
      auto next = shape_after(s, tm);
      if (!std::holds_alternative<TileShape>(next)) continue;
      s = std::get<TileShape>(next);
      maps.tms.push_back(tm);
    }
    if (rng.below(4) == 0) maps.pad = Pad{1, 2, 7};
    expect_same(producer, maps);
  }
}

TEST(TensorMaps, PaddingHasItsValue) {
  auto made = TileMap::make({1, 1, 1}, {std::nullopt, {Tm::pad(0, 1, 2.5)}, Pad{1, 0, -1}});
  const TileMap& map = std::get<TileMap>(made);
  EXPECT_FALSE(map.source({0, 0, 0}).padding);
  EXPECT_EQ(map.source({0, 0, 1}).pad_value, 2.5);
  EXPECT_EQ(map.source({0, 1, 1}).pad_value, -1);
}

TEST(TensorMaps, WhatDoesNotDivideIsRefused) {
  auto error = [](TileShape s, EdgeMaps maps) {
    auto made = TileMap::make(s, maps);
    EXPECT_TRUE(std::holds_alternative<MapError>(made));
    return std::holds_alternative<MapError>(made) ? std::get<MapError>(made) : MapError{};
  };
  EXPECT_EQ(error({1, 4, 6}, {{}, {Tm::hslice(4)}, {}}).reason, "ct 6 is not divisible by 4");
  EXPECT_EQ(error({1, 4, 6}, {{}, {Tm::vslice(3)}, {}}).reason, "rt 4 is not divisible by 3");
  EXPECT_EQ(error({3, 4, 6}, {{}, {Tm::transpose(), Tm::hstack(2)}, {}}).index, 1);
  EXPECT_EQ(error({1, 4, 6}, {Unpad{4, 0}, {}, {}}).index, -1);
  EXPECT_EQ(error({1, 4, 6}, {{}, {Tm::hslice(0)}, {}}).reason, "its factor 0 is below 1");
  EXPECT_THAT(error({1 << 20, 1 << 20, 1 << 20}, {{}, {Tm::broadcast(Dim::r, 1 << 20)}, {}}).reason, ::testing::HasSubstr("too large"));
}

TEST(TensorMaps, EvenTransposesCancel) {
  EXPECT_FALSE((EdgeMaps{{}, {Tm::transpose(), Tm::hslice(2), Tm::transpose()}, {}}).transposes());
  EXPECT_TRUE((EdgeMaps{{}, {Tm::transpose()}, {}}).transposes());
}

TEST(TensorMaps, TextIsThatOfNetlists) {
  EXPECT_EQ(Tm::broadcast(Dim::z, 4).text(), "broadcast: {z: 4}");
  EXPECT_EQ(Tm::pad(1, 2, 3).text(), "pad: [1, 2, 3.0]");
  EXPECT_EQ(Tm::transpose().text(), "transpose");
  EXPECT_EQ(Tm::tile_broadcast(Dim::c).text(), "tile_broadcast: c");
}

}  // namespace
}  // namespace buda::netlist
