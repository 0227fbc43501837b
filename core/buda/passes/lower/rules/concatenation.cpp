// SPDX-License-Identifier: Apache-2.0
// Lowering of concatenations.
//
// Parts of whole tiles along z, r or c are put one after the other (splice). Parts that end within a tile are joined with those behind them
// until a tile is full: as a sum, each with zeros in the others' places. So is everything else.
#include <buda/base/checked.hpp>
#include <buda/base/text.hpp>
#include <buda/passes/lower/rules/rules.hpp>
#include <buda/passes/lower/steps/copies.hpp>
#include <buda/passes/lower/steps/select.hpp>
#include <buda/passes/lower/steps/spare_tiles.hpp>
#include <buda/passes/lower/steps/splices.hpp>

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

namespace buda::passes {
namespace {

constexpr std::size_t kMaxSpliced = 8;  // inputs of one op

// Neighbouring inputs of the concatenation, and what they have together along its axis.
struct Group {
  std::vector<std::size_t> parts;
  std::int64_t size = 0;
};

// `suffix`: of the sum's name; empty when it is the node's value.
Result<Lowered> sum_of_parts(Operands& in, OpBuilder& out, std::size_t axis, const Group& group, std::string_view suffix) {
  std::optional<Lowered> sum;
  std::int64_t begin = 0;
  std::optional<ValueRange> data;
  for (std::size_t i : group.parts) {
    const std::int64_t size = in.type(i).shape[axis];
    Places places(static_cast<std::size_t>(group.size), kNone);
    std::iota(places.begin() + begin, places.begin() + begin + size, 0);
    begin += size;
    BUDA_ASSIGN(Lowered part, selected(in, i, {{axis, places}}, out));
    BUDA_ASSIGN(Lowered own, in.value(i));
    data = data ? hull(*data, own.data) : own.data;
    if (sum) {
      BUDA_ASSIGN(part, sum_of(out, i == group.parts.back() ? suffix : "sum", std::move(*sum), std::move(part)));
    }
    sum = std::move(part);
  }
  sum->data = *data;
  return std::move(*sum);
}

// The axis of (w, z, r, c) that an axis of the model is, where what follows along one follows along the other.
std::optional<std::size_t> spliced_axis(const Shape& model, std::size_t axis, bool joins_batch) {
  const std::size_t from_end = model.rank() - axis;
  if (from_end <= 2) return 4 - from_end;
  if (!joins_batch) return from_end == 3 ? std::optional<std::size_t>(1) : std::nullopt;
  for (std::size_t i = 0; i < axis; ++i)
    if (model[i] != 1) return std::nullopt;
  return 1;
}

// Groups that end with a tile; all but the last.
std::vector<Group> groups_of(Operands& in, std::size_t axis, bool by_tiles) {
  std::vector<Group> groups;
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (in.type(i).shape.volume() == 0) continue;
    const bool open = !groups.empty() && by_tiles && groups.back().size % graph::kTileSide != 0;
    if (!open) groups.emplace_back();
    groups.back().parts.push_back(i);
    groups.back().size += in.type(i).shape[axis];
  }
  return groups;
}

// What is known of values that follow one another along `axis`.
Lowered after_splice(const std::vector<Lowered>& parts, std::size_t axis) {
  Lowered all = parts.back();
  all.tms.clear();
  all.peak.reset();
  const bool by_rows = axis == 2, by_columns = axis == 3;
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
    const Lowered& part = parts[i];
    all.shape[0] = std::max(all.shape[0], part.shape[0]);
    all.shape[axis] += part.shape[axis];
    all.data = hull(all.data, part.data);
    if (!by_rows) all.rows = hull(all.rows, part.rows);
    if (!by_columns) all.cols = hull(all.cols, part.cols);
    if (axis == 1) all.corner = hull(all.corner, part.corner);
    all.rows_alike = all.rows_alike && part.rows_alike && !by_rows;
    all.cols_alike = all.cols_alike && part.cols_alike && !by_columns;
    if (!by_columns) {
      all.far_padding = all.far_padding || part.far_padding;
      all.zero_cols = std::min(all.zero_cols, part.zero_cols);
    }
  }
  return all;
}

// Of parts without spare tiles.
Result<Lowered> spliced(OpBuilder& out, std::string_view suffix, std::vector<Lowered> parts, std::size_t axis) {
  std::vector<SplicedPart> edges;
  for (Lowered& part : parts) {
    BUDA_ASSIGN(part, without_transpose(out, "copy", part));
    Shape shape = part.shape;
    for (const std::size_t side : {2u, 3u}) shape[side] = side == axis ? ceil_div(shape[side], graph::kTileSide) : tiles(shape[side]);
    edges.push_back({part.edge(), shape});
  }
  Lowered all = after_splice(parts, axis);
  BUDA_ASSIGN(graph::Edge edge, spliced_parts(out, suffix, std::move(edges), axis));
  all.source = edge.source;
  all.tms = std::move(edge.tms);
  out.mark_range(all);
  return all;
}

RuleResult lower_concatenate(Operands& in, OpBuilder& out) {
  if (in.size() == 1) return in.value(0);
  const Shape& result = in.result_type().shape;
  const std::size_t axis = *result.axis(in.attrs().integer("dim"));
  const auto on_device = spliced_axis(result, axis, out.joins_batch());
  std::vector<Group> groups = groups_of(in, axis, on_device != 1);
  if (groups.empty()) return out.refuse("none of its inputs has elements", "leave it out of the model");
  if (!on_device) {
    for (std::size_t g = 1; g < groups.size(); ++g) {
      groups[0].parts.insert(groups[0].parts.end(), groups[g].parts.begin(), groups[g].parts.end());
      groups[0].size += groups[g].size;
    }
    groups.resize(1);
  }
  if (groups.size() == 1) return sum_of_parts(in, out, axis, groups[0], "");
  const MatrixAxes along{*on_device == 2, *on_device == 3};
  std::vector<Lowered> parts;
  for (const Group& group : groups) {
    auto part = group.parts.size() == 1 ? in.value(group.parts[0]) : sum_of_parts(in, out, axis, group, "sum");
    BUDA_ASSIGN(Lowered one, std::move(part));
    BUDA_ASSIGN(one, without_spare_tiles(out, std::move(one), along));
    parts.push_back(std::move(one));
  }
  while (parts.size() > kMaxSpliced) {
    const auto first = parts.begin(), last = first + kMaxSpliced;
    BUDA_ASSIGN(Lowered some, spliced(out, "part", std::vector<Lowered>(first, last), *on_device));
    parts.erase(first, last);
    parts.insert(parts.begin(), std::move(some));
  }
  BUDA_ASSIGN(Lowered all, spliced(out, "", std::move(parts), *on_device));
  return with_spare_tiles(out, std::move(all), along);
}

}  // namespace

const std::vector<LoweringRule>& concatenation_rules() {
  static const std::vector<LoweringRule> rules = {{"concatenate", lower_concatenate, false, true}};
  return rules;
}

}  // namespace buda::passes
