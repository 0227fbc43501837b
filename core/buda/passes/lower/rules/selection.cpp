// SPDX-License-Identifier: Apache-2.0
// Lowering of ops that select elements along axes: slices, borders, gathers with known indices; and lookups in tables.
//
// Each is, for every axis, a list of positions in the input (or of none, where a zero comes): steps/select.hpp. A border of another number
// than 0 is added.
#include <buda/base/text.hpp>
#include <buda/passes/lower/analysis.hpp>
#include <buda/passes/lower/rules/rules.hpp>
#include <buda/passes/lower/steps/rearrange.hpp>
#include <buda/passes/lower/steps/select.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <utility>

namespace buda::passes {
namespace {

// A border of more numbers than this would be a constant that nobody wants.
constexpr std::int64_t kMaxBorder = std::int64_t{1} << 24;

RuleResult lower_slice(Operands& in, OpBuilder& out) {
  const Shape& shape = in.type(0).shape;
  PlacesByAxis axes;
  const auto &dims = in.attrs().integers("dims"), &starts = in.attrs().integers("starts"), &steps = in.attrs().integers("steps");
  for (std::size_t i = 0; i < dims.size(); ++i) {
    std::size_t axis = *shape.axis(dims[i]);
    std::int64_t step = steps.empty() ? 1 : steps[i], size = shape[axis], first = starts[i];
    if (first < 0) first += size;
    first = std::clamp<std::int64_t>(first, 0, step > 0 ? size : size - 1);
    Places places;
    for (std::int64_t k = 0; k < in.result_type().shape[axis]; ++k) places.push_back(first + k * step);
    axes.emplace_back(axis, std::move(places));
  }
  return selected(in, 0, axes, out);
}

// A table that other ops read as well is read here in its own form, by rows.
Result<Lowered> table_of(Operands& in, OpBuilder& out) {
  const graph::NodeId table = out.node().inputs()[0].source.node;
  if (out.task().from.use_count(table) == 1) return in.value(0);
  return out.constant("table", *in.known(0));
}

RuleResult lower_lookup(Operands& in, OpBuilder& out) {
  BUDA_ASSIGN(Lowered table, table_of(in, out));
  BUDA_ASSIGN(const Lowered indices, in.value(1));
  Lowered rows;
  rows.shape = {indices.shape[0], 1, indices.shape[3], table.shape[3]};
  rows.data = table.data;
  rows.rows = hull(table.data, table.rows);
  rows.cols = table.cols;
  rows.corner = hull(table.cols, table.corner);
  BUDA_ASSIGN(rows.source, out.op("", "embedding", {table.edge(), indices.edge()}));
  return rows;
}

RuleResult lower_gather(Operands& in, OpBuilder& out) {
  const Tensor* indices = in.known(1);
  if (indices == nullptr && only_looks_up(out.task().from, out.node().inputs()[1].source.node, out.task().batch))
    return lower_lookup(in, out);
  if (indices == nullptr) return out.refuse("its indices are known only at run time", "look them up on the host, or use an embedding");
  const Shape& shape = in.type(0).shape;
  std::size_t axis = *shape.axis(in.attrs().integer("dim"));
  Places places;
  Tensor whole = indices->cast(DType::i64);
  for (std::int64_t i : whole.as<std::int64_t>()) places.push_back(i < 0 ? i + shape[axis] : i);
  BUDA_ASSIGN(Lowered x, selected(in, 0, {{axis, places}}, out));
  // The indices' axes in the place of the one axis.
  std::vector<std::int64_t> dims = shape.dims();
  dims[axis] = static_cast<std::int64_t>(places.size());
  Rearrangement with_axes{Shape(dims)};
  with_axes.reshape(in.result_type().shape);
  return rearranged(out, std::move(x), with_axes);
}

// A border of another number than 0: a value that is this number there, and 0 inside.
Result<Lowered> border(OpBuilder& out, const Shape& inside, const std::vector<std::int64_t>& before, const Shape& result, double value) {
  std::int64_t volume = *result.volume();
  if (volume > kMaxBorder) return out.refuse(cat("its border would be a constant of ", volume, " numbers"), "pad with zeros");
  std::vector<float> elements(static_cast<std::size_t>(volume), static_cast<float>(value));
  std::vector<std::int64_t> strides = result.strides(), at(inside.rank(), 0);
  for (std::int64_t i = 0; i < *inside.volume(); ++i) {
    std::int64_t place = 0, rest = i;
    for (std::size_t k = inside.rank(); k-- > 0;) {
      place += (rest % inside[k] + before[k]) * strides[k];
      rest /= inside[k];
    }
    elements[static_cast<std::size_t>(place)] = 0;
  }
  return out.constant("border", Tensor(result, std::move(elements)));
}

RuleResult lower_pad(Operands& in, OpBuilder& out) {
  const Shape& shape = in.type(0).shape;
  const auto &before = in.attrs().integers("before"), &after = in.attrs().integers("after");
  double value = in.attrs().real("value");
  PlacesByAxis axes;
  for (std::size_t i = 0; i < shape.rank(); ++i) {
    if (before[i] == 0 && after[i] == 0) continue;
    // Negative borders cut.
    Places places;
    for (std::int64_t k = -before[i]; k < shape[i] + after[i]; ++k) places.push_back(k >= 0 && k < shape[i] ? k : kNone);
    axes.emplace_back(i, std::move(places));
  }
  BUDA_ASSIGN(Lowered x, selected(in, 0, axes, out));
  if (value == 0 || in.result_type().shape.volume() == shape.volume()) return x;
  for (std::size_t i = 0; i < before.size(); ++i)
    if (before[i] < 0 || after[i] < 0) return out.refuse("it slices and pads at the same time", "slice first, and pad then");
  BUDA_ASSIGN(Lowered frame, border(out, shape, before, in.result_type().shape, value));
  if (frame.shape[0] != x.shape[0]) return out.refuse("it adds to the batch", "");
  return sum_of(out, "", std::move(x), std::move(frame));
}

}  // namespace

const std::vector<LoweringRule>& selection_rules() {
  static const std::vector<LoweringRule> rules = {
      {"slice", lower_slice, false, true}, {"gather", lower_gather, true}, {"pad", lower_pad, false, true}};
  return rules;
}

}  // namespace buda::passes
