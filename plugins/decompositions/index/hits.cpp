// SPDX-License-Identifier: Apache-2.0
// Places as numbers: comparisons of indices with 0, 1, 2, …, of which the rules of this plugin are made.

#include "rules.hpp"

#include <buda/graph/graph.hpp>
#include <buda/passes/integers/digit_parts.hpp>

#include <numeric>

namespace buda::index {

using namespace plugin;

Term ramp(Rewrite& r, std::size_t rank, std::int64_t axis, std::int64_t n, double start, double step) {
  std::vector<float> numbers;
  for (std::int64_t i = 0; i < n; ++i) numbers.push_back(static_cast<float>(start + step * static_cast<double>(i)));
  Dims dims(rank, 1);
  dims[static_cast<std::size_t>(axis)] = n;
  return r.constant(Shape(dims), std::move(numbers));
}

Term wrapped(const Term& index, std::int64_t n) { return index + above(0, index) * static_cast<double>(n); }

Term hits(const Term& index, const Term& place) { return 1 - not_zero(index - place); }

Index index_of(Rewrite& r, std::size_t input) {
  const auto parts = passes::digit_parts(r.graph(), r.inputs()[input]);
  if (!parts) return {.whole = r.in(input)};
  auto number = [&](const graph::Edge& digit) { return r.exactly(Term{&r, digit}, r.compute_type()); };
  const Term high = number(parts->high);
  return {.high = high, .low = number(parts->low), .base = parts->base};
}

Index reshaped(Rewrite& r, const Index& index, const Shape& shape) {
  if (index.base == 0) return {.whole = r.reshape(index.whole, shape)};
  const Term high = r.reshape(index.high, shape);
  return {.high = high, .low = r.reshape(index.low, shape), .base = index.base};
}

Shape shape_of(Rewrite& r, const Index& index) { return r.shape(index.base == 0 ? index.whole : index.low); }

Index wrapped(const Index& index, std::int64_t n) { return index.base != 0 ? index : Index{.whole = wrapped(index.whole, n)}; }

namespace {

// A constant along an axis: of each place a number, or a digit of it.
Term along(Rewrite& r, std::size_t rank, std::int64_t axis, const std::vector<std::int64_t>& numbers) {
  Dims dims(rank, 1);
  dims[static_cast<std::size_t>(axis)] = static_cast<std::int64_t>(numbers.size());
  return r.constant(Shape(dims), std::vector<float>(numbers.begin(), numbers.end()));
}

// 1 where an index is one of these numbers, which lie along an axis.
Term hits_of_numbers(Rewrite& r, const Index& index, std::size_t rank, std::int64_t axis, const std::vector<std::int64_t>& numbers) {
  if (index.base == 0) return hits(index.whole, along(r, rank, axis, numbers));
  std::vector<std::int64_t> high, low;
  for (const std::int64_t v : numbers) {
    high.push_back(v / index.base);
    low.push_back(v % index.base);
  }
  const Term top = hits(index.high, along(r, rank, axis, high));
  return top * hits(index.low, along(r, rank, axis, low));
}

Term column(Rewrite& r, const Term& coordinates, std::int64_t i, const Shape& lines) {
  return r.reshape(r.op("slice", {coordinates}, {{"dims", Dims{1}}, {"starts", Dims{i}}, {"stops", Dims{i + 1}}}), lines);
}

}  // namespace

Term hits(Rewrite& r, const Index& index, std::size_t rank, std::int64_t axis, std::int64_t n) {
  std::vector<std::int64_t> places(static_cast<std::size_t>(n));
  std::iota(places.begin(), places.end(), 0);
  return hits_of_numbers(r, index, rank, axis, places);
}

Term hits_of_coordinates(Rewrite& r, const Index& coordinates, const Shape& sizes, const Shape& lines) {
  const std::int64_t places = volume_of(sizes);
  const std::size_t rank = lines.rank();
  Term all;
  std::int64_t stride = places;
  for (std::size_t i = 0; i < sizes.rank(); ++i) {
    stride /= sizes[i];
    std::vector<std::int64_t> numbers;
    for (std::int64_t p = 0; p < places; ++p) numbers.push_back(p / stride % sizes[i]);
    const auto at = static_cast<std::int64_t>(i);
    Index one{.base = coordinates.base};
    if (coordinates.base == 0) {
      one.whole = wrapped(column(r, coordinates.whole, at, lines), sizes[i]);
    } else {
      one.high = column(r, coordinates.high, at, lines);
      one.low = column(r, coordinates.low, at, lines);
    }
    const Term hit = hits_of_numbers(r, one, rank, static_cast<std::int64_t>(rank) - 1, numbers);
    all = i == 0 ? hit : all * hit;
  }
  return all;
}

namespace {

Index columns(Rewrite& r, const Index& index, std::int64_t from, std::int64_t to) {
  auto cut = [&](const Term& x) { return r.op("slice", {x}, {{"dims", Dims{1}}, {"starts", Dims{from}}, {"stops", Dims{to}}}); };
  if (index.base == 0) return {.whole = cut(index.whole)};
  const Term high = cut(index.high);
  return {.high = high, .low = cut(index.low), .base = index.base};
}

}  // namespace

RowHits hits_of_rows(Rewrite& r, const Index& coordinates, const Shape& sizes, std::int64_t count) {
  const auto last = static_cast<std::int64_t>(sizes.rank()) - 1;
  const std::int64_t size = sizes[sizes.rank() - 1];
  const Index all = reshaped(r, coordinates, Shape{count, last + 1});
  const Term row = hits_of_coordinates(r, columns(r, all, 0, last), Shape(Dims(sizes.begin(), sizes.end() - 1)), Shape{count, 1});
  return {row, hits(r, wrapped(columns(r, all, last, last + 1), size), 2, 1, size)};
}

namespace {

Term moved(Rewrite& r, const Term& x, std::size_t from, std::size_t to) {
  if (from == to) return x;
  Dims order(r.shape(x).rank());
  std::iota(order.begin(), order.end(), 0);
  std::int64_t axis = order[from];
  order.erase(order.begin() + static_cast<std::ptrdiff_t>(from));
  order.insert(order.begin() + static_cast<std::ptrdiff_t>(to), axis);
  return r.op("transpose", {x}, {{"perm", order}});
}

}  // namespace

Term with_axis_last(Rewrite& r, const Term& x, std::int64_t axis) {
  return moved(r, x, static_cast<std::size_t>(axis), r.shape(x).rank() - 1);
}

Index with_axis_last(Rewrite& r, const Index& index, std::int64_t axis) {
  if (index.base == 0) return {.whole = with_axis_last(r, index.whole, axis)};
  const Term high = with_axis_last(r, index.high, axis);
  return {.high = high, .low = with_axis_last(r, index.low, axis), .base = index.base};
}

Term with_axis_back(Rewrite& r, const Term& x, std::int64_t axis) {
  return moved(r, x, r.shape(x).rank() - 1, static_cast<std::size_t>(axis));
}

std::int64_t volume_of(const Shape& shape, std::size_t begin, std::size_t end) {
  std::int64_t n = 1;
  for (std::size_t i = begin; i < end; ++i) n *= shape[i];
  return n;
}

std::int64_t volume_of(const Shape& shape) { return volume_of(shape, 0, shape.rank()); }

const std::vector<std::string>& index_ops() {
  static const std::vector<std::string> ops = {"negative", "reduce_max", "reduce_sum", "reduce_prod", "subtract",
                                               "multiply", "clip",       "abs",        "add",         "maximum",
                                               "reshape",  "slice",      "matmul",     "pad",         "transpose"};
  return ops;
}

plugin::RuleSpec index_rule(std::string op, std::string summary, plugin::Term (*build)(plugin::Rewrite&),
                            bool (*matches)(const graph::Graph&, const graph::Node&)) {
  return {.name = op,
          .summary = std::move(summary),
          .consumes = {op},
          .produces = index_ops(),
          .build = build,
          .takes = plugin::Takes::anything,
          .matches = matches};
}

}  // namespace buda::index
