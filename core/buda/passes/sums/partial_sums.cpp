// SPDX-License-Identifier: Apache-2.0
// Few results by steps of 16 numbers, many tile by tile.
#include <buda/passes/sums/partial_sums.hpp>

#include <buda/passes/formats/accumulation_error.hpp>

#include <buda/base/checked.hpp>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace buda::passes {

using graph::AttrMap;

namespace {

// Members of the last sum, whose rounding nothing averages: of fewer numbers the leading bits add up to one that holds them.
constexpr std::int64_t kMaxLastMembers = 12;
// Tiles of a result whose parts are put in order at most; of larger ones they are added up one after the other, so many at a time.
constexpr std::int64_t kMaxOrderedTiles = 64;
constexpr std::int64_t kAddedAtOnce = 16;

// A selection matrix that lets the numbers of one sum follow each other: row 16 i + m of the slice for rows `tile_row` of sum q of batch b
// is row i of member m. Members lie below one another, `of_batch` for each batch; of those that are not there it names none.
Tensor order_of_members(std::int64_t batches, std::int64_t of_batch, std::int64_t at_once, std::int64_t tile_rows) {
  const std::int64_t sums = ceil_div(of_batch, at_once), rows = tile_rows * kSide;
  std::vector<std::int32_t> picks;
  for (std::int64_t b = 0; b < batches; ++b)
    for (std::int64_t q = 0; q < sums; ++q)
      for (std::int64_t row = 0; row < rows; ++row)
        for (std::int64_t m = 0; m < kTermsOfStep; ++m) {
          const std::int64_t member = q * at_once + m;
          const bool is_there = m < at_once && member < of_batch;
          picks.push_back(is_there ? static_cast<std::int32_t>((b * of_batch + member) * rows + row + 1) : 0);
        }
  return Tensor(Shape{batches * sums * tile_rows, kSide * kTermsOfStep}, std::move(picks));
}

// Of the next stage: few of the last one, as many for each of the others, whose errors are averaged.
std::int64_t members_of_sum(std::int64_t members) {
  if (members <= kMaxLastMembers) return members;
  std::int64_t stages = 1;
  for (std::int64_t most = kTermsOfStep * kMaxLastMembers; most < members; most *= kTermsOfStep) ++stages;
  const double sums = static_cast<double>(members) / static_cast<double>(kMaxLastMembers);
  return static_cast<std::int64_t>(std::ceil(std::pow(sums, 1.0 / static_cast<double>(stages)) - 1e-9));
}

// At least so many: the next number that divides a group, since to fill a group up takes a copy of it, which large ones have no room for.
std::int64_t added_at_once(std::int64_t group, std::int64_t least) {
  for (std::int64_t count = least; count <= kAddedAtOnce; ++count)
    if (group % count == 0) return count;
  return least;
}

// Tile by tile, one after the other: a step has one term, and each rounds.
NodeId sum_tile_by_tile(Splitter& s, Edge x, std::int64_t group, const AttrMap& packs) {
  for (;;) {
    const Shape from = s.shape(x);
    const std::int64_t ct = from[3] / kSide, outer = from[1] / group;
    std::int64_t steps = 1;
    for (std::int64_t most = kAddedAtOnce; most < group; most *= kAddedAtOnce) ++steps;
    const auto root = std::ceil(std::pow(static_cast<double>(group), 1.0 / static_cast<double>(steps)) - 1e-9);
    const std::int64_t at_once = added_at_once(group, static_cast<std::int64_t>(root)), next = ceil_div(group, at_once);
    if (next * at_once == group) {
      x.tms.push_back(Tm::hstack(at_once));
    } else {
      x.tms.push_back(Tm::hstack(group));
      x = filled_up(s, std::move(x), true, (next * at_once - group) * ct);
      x.tms.push_back(Tm::hslice(next));
    }
    Edge unit = s.constant("unit", Shape{1, 1, kSide, kSide}, unit_matrix(kSide));
    unit = repeated(repeated(std::move(unit), TmDim::r, at_once), TmDim::c, ct);
    const NodeId sum = s.op("added", "depthwise", {x, unit}, next == 1 ? packs : AttrMap{}, {from[0], outer * next, from[2], from[3]});
    if (next == 1) return sum;
    x = Edge(sum);
    group = next;
  }
}

// Row i adds up columns 16 i to 16 i + 15.
std::vector<float> blocks_of_steps(float factor) {
  constexpr std::int64_t length = kSide * kTermsOfStep;
  std::vector<float> blocks(static_cast<std::size_t>(kSide * length), 0.0f);
  for (std::int64_t i = 0; i < kSide; ++i) std::fill_n(blocks.begin() + i * length + i * kTermsOfStep, kTermsOfStep, factor);
  return blocks;
}

// Of slices that lie below one another, `group` for each batch.
InOrder in_order(Splitter& s, const Edge& x, std::int64_t batches, std::int64_t group, std::int64_t tile_rows) {
  const Shape from = s.shape(x);
  const std::int64_t sums = ceil_div(group, members_of_sum(group)), slices = batches * sums * tile_rows;
  const Edge picks = s.constant("order", order_of_members(batches, group, ceil_div(group, sums), tile_rows));
  return {Edge(s.op("ordered", "matmul", {picks, x}, {{"identity", true}, {"slices", slices}},
                    {from[0], slices, kSide * kTermsOfStep, from[3]})),
          sums, batches};
}

}  // namespace

NodeId sum_by_steps(Splitter& s, InOrder x, std::int64_t tile_rows, Factors factors, const AttrMap& packs) {
  bool is_negative = false;
  for (bool is_first = true;; is_first = false) {
    Shape shape = s.shape(x.members);
    shape[2] = kSide;
    const bool is_last = x.sums == 1, changes_sign = is_negative == is_last;
    const float factor = (is_first ? factors.first : 1.0f) * (is_last ? factors.last : 1.0f);
    std::vector<float> blocks = blocks_of_steps(changes_sign ? -factor : factor);
    const Edge ones = repeated(s.constant("blocks", Shape{1, 1, kSide, kSide * kTermsOfStep}, std::move(blocks)), TmDim::z, shape[1]);
    is_negative = is_negative != changes_sign;
    Edge added(s.op("added", "matmul", {ones, x.members}, is_last && tile_rows == 1 ? packs : AttrMap{}, shape));
    if (is_last && tile_rows == 1) return added.source.node;
    added.tms.push_back(Tm::vstack(is_last ? tile_rows : shape[1]));
    if (is_last) return s.op("joined", "nop", {added}, packs, {shape[0], x.batches, tile_rows * kSide, shape[3]});
    x = in_order(s, added, x.batches, x.sums, tile_rows);
  }
}

bool are_few(const Shape& result) { return result[0] == 1 && result[1] * result[2] * result[3] <= kMaxOrderedTiles * kSide * kSide; }

NodeId sum_of_slices(Splitter& s, const Edge& x, std::int64_t group, const AttrMap& packs) {
  Shape result = s.shape(x);
  result[1] /= group;
  if (!are_few(result)) return sum_tile_by_tile(s, x, group, packs);
  Edge slices = x;
  if (group * result[1] > 1) slices.tms.push_back(Tm::vstack(group * result[1]));
  const std::int64_t tile_rows = result[2] / kSide;
  return sum_by_steps(s, in_order(s, slices, result[1], group, tile_rows), tile_rows, {}, packs);
}

}  // namespace buda::passes
