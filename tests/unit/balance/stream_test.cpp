// SPDX-License-Identifier: Apache-2.0
// Streaming along t: the manipulations of an edge name the same tiles, however its two ops cut their results.
#include <buda/balance/models/stream.hpp>

#include <buda/base/rng.hpp>
#include <buda/base/text.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <optional>

namespace buda::balance {
namespace {

using netlist::Dim;
using netlist::EdgeMaps;
using netlist::TileIndex;
using netlist::TileMap;
using netlist::TileShape;
using netlist::Tm;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr Stream by_rows(std::int32_t parts) { return {StreamDirection::r, parts}; }
constexpr Stream by_columns(std::int32_t parts) { return {StreamDirection::c, parts}; }
constexpr Stream rows_of_matrices(std::int32_t parts) { return {StreamDirection::rz, parts}; }
constexpr Stream columns_of_matrices(std::int32_t parts) { return {StreamDirection::cz, parts}; }

std::string refusal(const HeldResult& producer, const EdgeMaps& logical, const Stream& consumer, StreamedOperand operand) {
  auto maps = streamed_maps(producer, logical, consumer, operand);
  return std::holds_alternative<std::string>(maps) ? std::get<std::string>(maps) : "";
}

std::vector<Tm> tms(const HeldResult& producer, std::vector<Tm> logical, const Stream& consumer,
                    StreamedOperand operand = StreamedOperand::rows_and_columns) {
  auto maps = streamed_maps(producer, {{}, std::move(logical), {}}, consumer, operand);
  EXPECT_TRUE(std::holds_alternative<EdgeMaps>(maps)) << refusal(producer, {}, consumer, operand);
  return std::holds_alternative<EdgeMaps>(maps) ? std::get<EdgeMaps>(maps).tms : std::vector<Tm>{};
}

TEST(StreamedMaps, StackAndSliceCancel) {
  EXPECT_THAT(tms({by_rows(4)}, {}, by_rows(4)), ElementsAre());
  EXPECT_THAT(tms({by_rows(4)}, {}, by_rows(2)), ElementsAre(Tm::vstack(2)));
  EXPECT_THAT(tms({by_rows(2)}, {}, by_rows(6)), ElementsAre(Tm::vslice(3)));
  EXPECT_THAT(tms({by_rows(2)}, {}, by_rows(3)), ElementsAre(Tm::vstack(2), Tm::vslice(3)));
  EXPECT_THAT(tms({by_columns(4)}, {}, by_columns(4)), ElementsAre());
  EXPECT_THAT(tms({by_columns(4)}, {}, by_rows(4)), ElementsAre(Tm::hstack(4), Tm::vslice(4)));
  EXPECT_THAT(tms({by_rows(4)}, {Tm::transpose()}, by_rows(4)), ElementsAre(Tm::vstack(4), Tm::transpose(), Tm::vslice(4)));
}

TEST(StreamedMaps, PartsHoldAllMatricesOrOne) {
  const auto heads = Tm::hslice(12), merged = Tm::hstack(12);
  // Twelve heads of each part follow each other, and are cut out of that part alone; so they are merged again.
  EXPECT_THAT(tms({by_rows(4)}, {heads}, by_rows(4)), ElementsAre(heads));
  EXPECT_THAT(tms({by_rows(4), 12}, {merged}, by_rows(4)), ElementsAre(merged));
  EXPECT_THAT(tms({by_rows(4), 12}, {}, by_rows(4)), ElementsAre());
  EXPECT_THAT(tms({rows_of_matrices(4), 12}, {}, rows_of_matrices(4)), ElementsAre());
  EXPECT_THAT(tms({{}, 12}, {}, rows_of_matrices(4)), ElementsAre(Tm::vslice(4)));
  EXPECT_THAT(tms({{}, 12}, {}, by_rows(4)), ElementsAre(Tm::hstack(12), Tm::vslice(4), Tm::hslice(12)));
  EXPECT_THAT(tms({{}, 12}, {}, by_columns(4)), ElementsAre(Tm::vstack(12), Tm::hslice(4), Tm::vslice(12)));
  EXPECT_THAT(tms({{}, 12}, {}, by_rows(4), StreamedOperand::columns),
              ElementsAre(Tm::vstack(12), Tm::broadcast(Dim::c, 4), Tm::hslice(4), Tm::vslice(12)));
  EXPECT_THAT(tms({columns_of_matrices(4), 12}, {}, by_columns(4)),
              ElementsAre(Tm::hstack(4), Tm::vstack(12), Tm::hslice(4), Tm::vslice(12)));
}

TEST(StreamedMaps, OperandsAreCutAsTheirRoleDemands) {
  using enum StreamedOperand;
  EXPECT_THAT(tms({}, {}, by_rows(2), rows), ElementsAre(Tm::vslice(2)));
  EXPECT_THAT(tms({}, {}, by_columns(2), rows), ElementsAre(Tm::broadcast(Dim::r, 2), Tm::vslice(2)));
  EXPECT_THAT(tms({}, {}, by_rows(2), columns), ElementsAre(Tm::broadcast(Dim::c, 2), Tm::hslice(2)));
  EXPECT_THAT(tms({}, {}, by_columns(2), columns), ElementsAre(Tm::hslice(2)));
  EXPECT_THAT(tms({}, {}, by_rows(2), whole), ElementsAre());
  EXPECT_THAT(tms({by_rows(2), 9, true}, {}, by_rows(2), slices), ElementsAre(Tm::vslice(9)));
  EXPECT_THAT(tms({{}, 9}, {}, by_rows(2), slices), ElementsAre(Tm::hstack(9), Tm::vslice(2), Tm::hslice(9)));
  EXPECT_THAT(tms({by_rows(2), 9, true}, {Tm::hstack(9)}, by_rows(2), rows), ElementsAre(Tm::vslice(9), Tm::hstack(9)));
}

TEST(StreamedMaps, WhatDoesNotGoTogetherIsRefused) {
  using enum StreamedOperand;
  const EdgeMaps cut{netlist::Unpad{1, 0}, {}, {}}, padded{{}, {}, netlist::Pad{1, 0, 0}};
  EXPECT_THAT(refusal({by_rows(2)}, cut, {}, rows_and_columns), HasSubstr("cut off here"));
  EXPECT_THAT(refusal({{}, 9, true}, cut, {}, rows_and_columns), HasSubstr("cut off here"));
  EXPECT_EQ(refusal({}, cut, by_rows(2), rows_and_columns), "");
  EXPECT_THAT(refusal({}, padded, by_rows(2), rows_and_columns), HasSubstr("cannot be cut into parts"));
  EXPECT_EQ(refusal({by_rows(2)}, padded, {}, rows_and_columns), "");
  // Rows of padding lie across parts of columns.
  EXPECT_EQ(refusal({}, padded, by_columns(2), rows_and_columns), "");
  EXPECT_THAT(refusal({}, padded, by_columns(2), columns), HasSubstr("cannot be cut into parts"));
  EXPECT_THAT(refusal({{}, 9}, {}, by_columns(2), slices), HasSubstr("reduced along z streams along r only"));
}

// ---- any edge

// The divisor of `n` that a random number picks.
std::int32_t some_divisor(Rng& rng, std::int64_t n) {
  std::vector<std::int32_t> all;
  for (std::int32_t d = 1; d <= n; ++d)
    if (n % d == 0) all.push_back(d);
  return all[rng.below(all.size())];
}

Stream some_stream(Rng& rng, const TileShape& shape, bool rows_only) {
  const bool rows = rows_only || rng.below(2) == 0, by_matrix = !rows_only && rng.below(2) == 0;
  const std::int32_t parts = some_divisor(rng, rows ? shape.rt : shape.ct);
  if (parts == 1) return {};
  if (by_matrix) return rows ? rows_of_matrices(parts) : columns_of_matrices(parts);
  return rows ? by_rows(parts) : by_columns(parts);
}

Tm some_tm(Rng& rng, const TileShape& s) {
  switch (rng.below(6)) {
    case 0:
      return Tm::broadcast(std::array{Dim::r, Dim::c, Dim::z}[rng.below(3)], static_cast<std::int32_t>(1 + rng.below(3)));
    case 1:
      return Tm::hslice(some_divisor(rng, s.ct));
    case 2:
      return Tm::vslice(some_divisor(rng, s.rt));
    case 3:
      return Tm::hstack(some_divisor(rng, s.t));
    case 4:
      return Tm::vstack(some_divisor(rng, s.t));
    default:
      return Tm::transpose();
  }
}

// Where the tile at `held` of a result stands in it: the definition of how results are held.
TileIndex logical_place(const TileShape& logical, const HeldResult& result, TileIndex held) {
  const Stream& s = result.stream;
  const bool by_rows = s.direction == StreamDirection::r || s.direction == StreamDirection::rz;
  const std::int64_t rows = logical.rt / (by_rows ? s.parts : 1);
  if (result.below) {
    const std::int64_t of_band = rows / result.bands, band = held.r / (of_band * logical.t), in_band = held.r % (of_band * logical.t);
    return {in_band / of_band, held.t * rows + band * of_band + in_band % of_band, held.c};
  }
  const bool all_in_part = s.direction == StreamDirection::r || s.direction == StreamDirection::c;
  const std::int64_t part = all_in_part ? held.t / logical.t : held.t % s.parts,
                     matrix = all_in_part ? held.t % logical.t : held.t / s.parts;
  if (!by_rows) return {matrix, held.r, part * (logical.ct / s.parts) + held.c};
  return {matrix, part * rows + held.r, held.c};
}

// Which tile of the operand as the graph has it part `at.t` of the result needs at this place of what it is given.
TileIndex needed(const TileShape& whole, const Stream& s, StreamedOperand operand, TileIndex at) {
  if (operand == StreamedOperand::slices) return {at.t % whole.t, at.t / whole.t * (whole.rt / s.parts) + at.r, at.c};
  const bool by_rows = s.direction == StreamDirection::r || s.direction == StreamDirection::rz;
  const bool cut = operand == StreamedOperand::rows_and_columns || operand == (by_rows ? StreamedOperand::rows : StreamedOperand::columns);
  if (operand == StreamedOperand::whole) return at;
  const bool all_in_part = s.direction == StreamDirection::r || s.direction == StreamDirection::c;
  if (!cut) return {all_in_part ? at.t % whole.t : at.t / s.parts, at.r, at.c};
  return logical_place(whole, {s, whole.t}, at);
}

TileShape needed_shape(const TileShape& whole, const Stream& s, StreamedOperand operand) {
  if (operand == StreamedOperand::whole) return whole;
  const TileShape cut = held_shape(whole, {s, whole.t});
  const bool by_rows = s.direction == StreamDirection::r || s.direction == StreamDirection::rz;
  const bool rows = operand != StreamedOperand::columns || !by_rows, columns = operand != StreamedOperand::rows || by_rows;
  return {cut.t, rows ? cut.rt : whole.rt, columns ? cut.ct : whole.ct};
}

struct RandomEdge {
  TileShape producer;
  HeldResult held;
  EdgeMaps logical;
  Stream consumer;
  StreamedOperand operand = StreamedOperand::rows_and_columns;
};

RandomEdge random_edge(std::uint64_t seed) {
  Rng rng(seed);
  auto size = [&] { return static_cast<std::int64_t>(1 + rng.below(12)); };
  RandomEdge e;
  e.producer = {size(), size(), size()};
  e.held.matrices = e.producer.t;
  e.held.below = e.producer.t > 1 && rng.below(3) == 0;
  e.held.stream = some_stream(rng, e.producer, e.held.below);
  if (e.held.below) e.held.bands = some_divisor(rng, e.producer.rt / e.held.stream.parts);
  TileShape arriving = e.producer;
  auto add = [&](const Tm& tm) {
    e.logical.tms.push_back(tm);
    arriving = std::get<TileShape>(netlist::shape_after(arriving, tm));
  };
  if (e.held.below && rng.below(2) == 0) add(Tm::hstack(static_cast<std::int32_t>(e.held.matrices)));
  for (std::uint64_t n = rng.below(4); n > 0; --n) add(some_tm(rng, arriving));
  e.operand = static_cast<StreamedOperand>(rng.below(5));
  e.consumer = some_stream(rng, arriving, e.operand == StreamedOperand::slices);
  return e;
}

// Both ways to each tile of the operand; what is wrong, or nothing. Empty where the edge is refused.
std::optional<std::string> difference(const RandomEdge& e) {
  auto maps = streamed_maps(e.held, e.logical, e.consumer, e.operand);
  if (std::holds_alternative<std::string>(maps)) return std::nullopt;
  const auto logical = std::get<TileMap>(TileMap::make(e.producer, e.logical));
  auto made = TileMap::make(held_shape(e.producer, e.held), std::get<EdgeMaps>(maps));
  if (const auto* error = std::get_if<netlist::MapError>(&made)) return error->reason;
  const auto& streamed = std::get<TileMap>(made);
  const TileShape whole = logical.shape(), cut = needed_shape(whole, e.consumer, e.operand);
  if (streamed.shape() != cut) return cat(streamed.shape().text(), " instead of ", cut.text());
  for (std::int64_t t = 0; t < cut.t; ++t)
    for (std::int64_t r = 0; r < cut.rt; ++r)
      for (std::int64_t c = 0; c < cut.ct; ++c) {
        const TileIndex found = logical_place(e.producer, e.held, streamed.source({t, r, c}).tile);
        if (found != logical.source(needed(whole, e.consumer, e.operand, {t, r, c})).tile)
          return cat("tile ", t, ", ", r, ", ", c, " is ", found.t, ", ", found.r, ", ", found.c);
      }
  return "";
}

TEST(StreamedMaps, NameTheSameTiles) {
  std::array<int, 5> of_operand{};
  int both_stream = 0, sparse_streams = 0, banded = 0;
  constexpr std::uint64_t kEdges = 4000;
  for (std::uint64_t seed = 1; seed <= kEdges; ++seed) {
    const RandomEdge e = random_edge(seed);
    const auto wrong = difference(e);
    // Nothing is refused of edges without padding.
    ASSERT_TRUE(wrong) << "seed " << seed;
    ASSERT_EQ(*wrong, "") << "seed " << seed;
    ++of_operand[static_cast<std::size_t>(e.operand)];
    both_stream += e.held.stream.parts > 1 && e.consumer.parts > 1 ? 1 : 0;
    sparse_streams += e.held.below && e.held.stream.parts > 1 ? 1 : 0;
    banded += e.held.bands > 1 ? 1 : 0;
  }
  for (int count : of_operand) EXPECT_GT(count, 100);
  EXPECT_GT(both_stream, 400);
  EXPECT_GT(sparse_streams, 100);
  EXPECT_GT(banded, 100);
}

}  // namespace
}  // namespace buda::balance
