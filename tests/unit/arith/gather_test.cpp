// SPDX-License-Identifier: Apache-2.0
// Manipulations of edges, against a direct computation on the numbers of a matrix.
#include <buda/arith/gather.hpp>
#include <buda/base/rng.hpp>

#include <gtest/gtest.h>

#include <functional>

namespace buda::arith {
namespace {

using netlist::Dim;
using netlist::EdgeMaps;
using netlist::Pad;
using netlist::TileShape;
using netlist::Tm;
using netlist::TmKind;
using netlist::Unpad;

// t matrices of numbers: what a user thinks a manipulation does, with no tiles in it.
struct Matrices {
  std::size_t t = 0, r = 0, c = 0;
  std::vector<float> v;
  Matrices(std::size_t depth, std::size_t rows, std::size_t cols) : t(depth), r(rows), c(cols), v(depth * rows * cols) {}
  float& at(std::size_t i, std::size_t y, std::size_t x) { return v[(i * r + y) * c + x]; }
};

Matrices make(std::size_t t, std::size_t r, std::size_t c, const std::function<float(std::size_t, std::size_t, std::size_t)>& f) {
  Matrices m(t, r, c);
  for (std::size_t i = 0; i < t; ++i)
    for (std::size_t y = 0; y < r; ++y)
      for (std::size_t x = 0; x < c; ++x) m.at(i, y, x) = f(i, y, x);
  return m;
}

Matrices apply(Matrices in, const Tm& tm, std::size_t tile) {
  auto n = static_cast<std::size_t>(tm.factor);
  switch (tm.kind) {
    case TmKind::broadcast:
      return make(in.t * (tm.dim == Dim::z ? n : 1), in.r * (tm.dim == Dim::r ? n : 1), in.c * (tm.dim == Dim::c ? n : 1),
                  [&](auto i, auto y, auto x) { return in.at(i % in.t, y % in.r, x % in.c); });
    case TmKind::hslice:  // the columns of each matrix become n matrices
      return make(in.t * n, in.r, in.c / n, [&](auto i, auto y, auto x) { return in.at(i / n, y, i % n * (in.c / n) + x); });
    case TmKind::vslice:
      return make(in.t * n, in.r / n, in.c, [&](auto i, auto y, auto x) { return in.at(i / n, i % n * (in.r / n) + y, x); });
    case TmKind::hstack:  // n matrices side by side
      return make(in.t / n, in.r, in.c * n, [&](auto i, auto y, auto x) { return in.at(i * n + x / in.c, y, x % in.c); });
    case TmKind::vstack:
      return make(in.t / n, in.r * n, in.c, [&](auto i, auto y, auto x) { return in.at(i * n + y / in.r, y % in.r, x); });
    case TmKind::transpose:
      return make(in.t, in.c, in.r, [&](auto i, auto y, auto x) { return in.at(i, x, y); });
    case TmKind::pad:
      return make(in.t, in.r + static_cast<std::size_t>(tm.pad_rt) * tile, in.c + static_cast<std::size_t>(tm.pad_ct) * tile,
                  [&](auto i, auto y, auto x) { return y < in.r && x < in.c ? in.at(i, y, x) : static_cast<float>(tm.pad_value); });
    case TmKind::tile_broadcast:
      break;
  }
  return in;
}

Matrices apply(Matrices in, const EdgeMaps& maps, std::size_t tile) {
  if (maps.unpad) {
    Matrices out = make(in.t, in.r - static_cast<std::size_t>(maps.unpad->rt) * tile,
                        in.c - static_cast<std::size_t>(maps.unpad->ct) * tile, [&](auto i, auto y, auto x) { return in.at(i, y, x); });
    in = out;
  }
  for (const Tm& tm : maps.tms) in = apply(in, tm, tile);
  if (maps.pad) in = apply(in, Tm::pad(maps.pad->rt, maps.pad->ct, maps.pad->value), tile);
  return in;
}

void check(TileShape shape, const EdgeMaps& maps, TileDim dim = {}) {
  auto value = std::make_shared<Value>(shape, dim, DataFormat::float32);
  for (std::size_t i = 0; i < value->floats.size(); ++i) value->floats[i] = static_cast<float>(i);
  Matrices in(value->depth(), value->rows(), value->cols());
  in.v = value->floats;
  Matrices want = apply(in, maps, 32);
  auto gather = Gather::make(shape, maps);
  ASSERT_TRUE(std::holds_alternative<Gather>(gather));
  for (unsigned threads : {1u, 2u}) {
    auto got = std::get<Gather>(gather).apply(value, Mode::exact, threads);
    EXPECT_EQ(got->depth(), want.t);
    EXPECT_EQ(got->rows(), want.r);
    EXPECT_EQ(got->cols(), want.c);
    EXPECT_EQ(got->floats, want.v);
  }
}

TEST(Gather, EachManipulation) {
  for (const Tm& tm : {Tm::broadcast(Dim::r, 3), Tm::broadcast(Dim::c, 2), Tm::broadcast(Dim::z, 2), Tm::hslice(2), Tm::vslice(2),
                       Tm::hstack(2), Tm::vstack(2), Tm::transpose(), Tm::pad(1, 2, -3.5)}) {
    SCOPED_TRACE(tm.text());
    check({2, 2, 4}, {std::nullopt, {tm}, std::nullopt});
  }
}

TEST(Gather, ChainsUnpadAndPad) {
  check({4, 3, 2}, {Unpad{1, 0}, {Tm::hstack(2), Tm::transpose(), Tm::broadcast(Dim::z, 3), Tm::vslice(2)}, Pad{1, 1, 7}});
  check({6, 2, 2}, {std::nullopt, {Tm::hstack(3), Tm::hslice(6), Tm::vstack(2)}, std::nullopt});
  check({1, 2, 3}, {std::nullopt, {Tm::transpose(), Tm::transpose()}, std::nullopt});
}

TEST(Gather, RandomChains) {
  Rng rng(11);
  for (int round = 0; round < 60; ++round) {
    TileShape shape{static_cast<std::int64_t>(1 + rng.below(4)), static_cast<std::int64_t>(1 + rng.below(4)),
                    static_cast<std::int64_t>(1 + rng.below(4))};
    EdgeMaps maps;
    TileShape now = shape;
    for (int k = 0; k < 4; ++k) {
      const auto n = static_cast<std::int32_t>(1 + rng.below(3));
      const Tm all[] = {Tm::broadcast(Dim::r, n),
                        Tm::broadcast(Dim::c, n),
                        Tm::broadcast(Dim::z, n),
                        Tm::hslice(n),
                        Tm::vslice(n),
                        Tm::hstack(n),
                        Tm::vstack(n),
                        Tm::transpose()};
      const Tm& tm = all[rng.below(8)];
      auto next = netlist::shape_after(now, tm);
      if (!std::holds_alternative<TileShape>(next) || std::get<TileShape>(next).volume() > 64) continue;
      now = std::get<TileShape>(next);
      maps.tms.push_back(tm);
    }
    check(shape, maps);
  }
}

TEST(Gather, SmallTilesAreTransposedWithTheirShape) {
  auto value = std::make_shared<Value>(TileShape{1, 2, 1}, TileDim{16, 32}, DataFormat::float32);
  for (std::size_t i = 0; i < value->floats.size(); ++i) value->floats[i] = static_cast<float>(i);
  auto gather = Gather::make(value->tiles, {std::nullopt, {Tm::transpose()}, std::nullopt});
  auto got = std::get<Gather>(gather).apply(value, Mode::exact, 1);
  EXPECT_EQ(got->dim, (TileDim{32, 16}));
  EXPECT_EQ(got->rows(), 32u);
  EXPECT_EQ(got->cols(), 32u);
  for (std::size_t y = 0; y < 32; ++y)
    for (std::size_t x = 0; x < 32; ++x) EXPECT_EQ(got->floats[y * 32 + x], value->floats[x * 32 + y]);
}

TEST(Gather, WhatChangesNothingCopiesNothing) {
  auto value = std::make_shared<Value>(TileShape{2, 2, 2}, TileDim{}, DataFormat::float32);
  for (const EdgeMaps& maps : {EdgeMaps{}, EdgeMaps{std::nullopt, {Tm::broadcast(Dim::r, 1)}, std::nullopt},
                               EdgeMaps{std::nullopt, {Tm::hslice(2), Tm::hstack(2)}, std::nullopt}}) {
    auto gather = Gather::make(value->tiles, maps);
    EXPECT_EQ(std::get<Gather>(gather).apply(value, Mode::exact, 1), value);
  }
}

TEST(Gather, PaddingIsRoundedToTheFormat) {
  auto value = std::make_shared<Value>(TileShape{1, 1, 1}, TileDim{}, DataFormat::float16_b);
  auto gather = Gather::make(value->tiles, {std::nullopt, {}, Pad{0, 1, 0.1}});
  EXPECT_EQ(std::get<Gather>(gather).apply(value, Mode::exact, 1)->floats[40], 0.099609375f);
  EXPECT_EQ(std::get<Gather>(gather).apply(value, Mode::fp32, 1)->floats[40], 0.1f);
}

TEST(Gather, IntegersMoveToo) {
  auto value = std::make_shared<Value>(TileShape{1, 1, 2}, TileDim{}, DataFormat::int32);
  for (std::size_t i = 0; i < value->ints.size(); ++i) value->ints[i] = -static_cast<std::int32_t>(i);
  auto gather = Gather::make(value->tiles, {std::nullopt, {Tm::vstack(1), Tm::hslice(2)}, Pad{1, 0, -9}});
  auto got = std::get<Gather>(gather).apply(value, Mode::exact, 1);
  EXPECT_EQ(got->ints[0], 0);
  EXPECT_EQ(got->ints[32], -64);
  EXPECT_EQ(got->ints[32 * 32], -9);
  EXPECT_EQ(got->ints[64 * 32], -32);
}

TEST(Gather, ImpossibleManipulations) {
  auto error = [](TileShape shape, const Tm& tm) {
    auto made = Gather::make(shape, {std::nullopt, {tm}, std::nullopt});
    return std::holds_alternative<netlist::MapError>(made) ? std::get<netlist::MapError>(made).reason : "";
  };
  EXPECT_NE(error({1, 1, 3}, Tm::hslice(2)), "");
  EXPECT_NE(error({3, 1, 1}, Tm::vstack(2)), "");
  EXPECT_NE(error({1, 1 << 14, 1 << 14}, Tm::broadcast(Dim::r, 2)), "");
}

}  // namespace
}  // namespace buda::arith
