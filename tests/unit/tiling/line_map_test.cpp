// SPDX-License-Identifier: Apache-2.0
// Lines against the tile-by-tile map, on all manipulations.
#include <buda/tiling/line_map.hpp>

#include <buda/base/rng.hpp>

#include <gtest/gtest.h>

namespace buda::tiling {
namespace {

using netlist::Dim;
using netlist::EdgeMaps;
using netlist::TileIndex;
using netlist::TileMap;
using netlist::TileShape;
using netlist::Tm;

// A manipulation that applies to a shape, and keeps it small.
Tm random_tm(const TileShape& s, Rng& rng) {
  auto factor = [&](std::int64_t n) {
    std::vector<std::int32_t> factors;
    for (std::int32_t f = 1; f <= 4; ++f)
      if (n % f == 0) factors.push_back(f);
    return factors[rng.below(factors.size())];
  };
  bool large = s.volume() > 200;
  switch (rng.below(8)) {
    case 0:
      return large ? Tm::transpose() : Tm::broadcast(Dim::r, 1 + static_cast<std::int32_t>(rng.below(3)));
    case 1:
      return large ? Tm::transpose() : Tm::broadcast(Dim::c, 1 + static_cast<std::int32_t>(rng.below(3)));
    case 2:
      return s.t == 1 && !large ? Tm::broadcast(Dim::z, 1 + static_cast<std::int32_t>(rng.below(4))) : Tm::transpose();
    case 3:
      return Tm::hslice(factor(s.ct));
    case 4:
      return Tm::vslice(factor(s.rt));
    case 5:
      return Tm::hstack(factor(s.t));
    case 6:
      return Tm::vstack(factor(s.t));
    default:
      return Tm::transpose();
  }
}

EdgeMaps random_maps(const TileShape& producer, Rng& rng) {
  EdgeMaps maps;
  TileShape s = producer;
  if (rng.below(4) == 0 && s.rt > 1) {
    maps.unpad = netlist::Unpad{1, 0};
    s.rt -= 1;
  }
  for (std::uint64_t i = rng.below(5); i > 0; --i) {
    maps.tms.push_back(random_tm(s, rng));
    s = std::get<TileShape>(netlist::shape_after(s, maps.tms.back()));
  }
  if (rng.below(4) == 0) maps.pad = netlist::Pad{static_cast<std::int32_t>(rng.below(3)), static_cast<std::int32_t>(rng.below(3)), 1.0};
  return maps;
}

TEST(LineMap, AgreeWithTheTileMapOnRandomChains) {
  Rng rng(7);
  for (int round = 0; round < 400; ++round) {
    TileShape producer{1 + static_cast<std::int64_t>(rng.below(6)), 1 + static_cast<std::int64_t>(rng.below(6)),
                       1 + static_cast<std::int64_t>(rng.below(6))};
    EdgeMaps maps = random_maps(producer, rng);
    auto lines = LineMap::make(producer, maps);
    auto tiles = TileMap::make(producer, maps);
    ASSERT_TRUE(std::holds_alternative<LineMap>(lines)) << round;
    ASSERT_TRUE(std::holds_alternative<TileMap>(tiles)) << round;
    const auto& map = std::get<LineMap>(lines);
    const auto& reference = std::get<TileMap>(tiles);
    ASSERT_EQ(map.shape(), reference.shape());
    for (std::int64_t t = 0; t < map.shape().t; ++t)
      for (std::int64_t r = 0; r < map.shape().rt; ++r)
        for (std::int64_t c = 0; c < map.shape().ct;) {
          Line line = map.line({t, r, c}, map.shape().ct - c);
          ASSERT_GT(line.count, 0);
          for (std::int64_t i = 0; i < line.count; ++i) {
            auto source = reference.source({t, r, c + i});
            ASSERT_EQ(line.padding, source.padding);
            if (line.padding) continue;
            TileIndex here = line.first;
            (line.down ? here.r : here.c) += i;
            ASSERT_EQ(here, source.tile) << "round " << round << " tile " << t << ' ' << r << ' ' << c + i;
          }
          c += line.count;
        }
  }
}

TEST(LineMap, BroadcastOfSeveralTsIsRefused) {
  auto made = LineMap::make({2, 1, 1}, {std::nullopt, {Tm::broadcast(Dim::z, 2)}, std::nullopt});
  ASSERT_TRUE(std::holds_alternative<netlist::MapError>(made));
  EXPECT_EQ(std::get<netlist::MapError>(made).index, 0);
}

TEST(LineMap, OnlySlicesFollowAPad) {
  TileShape s{1, 2, 2};
  EXPECT_TRUE(std::holds_alternative<LineMap>(LineMap::make(s, {std::nullopt, {Tm::pad(2, 0, 0), Tm::vslice(2)}, std::nullopt})));
  auto made = LineMap::make(s, {std::nullopt, {Tm::pad(2, 0, 0), Tm::transpose()}, std::nullopt});
  ASSERT_TRUE(std::holds_alternative<netlist::MapError>(made));
  EXPECT_EQ(std::get<netlist::MapError>(made).index, 1);
}

}  // namespace
}  // namespace buda::tiling
