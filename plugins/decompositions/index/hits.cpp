// Places as numbers: comparisons of indices with 0, 1, 2, …, of which the rules of this plugin are made.

#include "rules.hpp"

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

Term place_of_coordinates(Rewrite& r, const Term& coordinates, const Shape& sizes) {
  auto m = static_cast<std::int64_t>(sizes.rank());
  std::vector<float> size, stride;
  for (std::int64_t s : sizes) size.push_back(static_cast<float>(s));
  for (std::int64_t s : sizes.strides()) stride.push_back(static_cast<float>(s));
  Term negative = above(0, coordinates);
  Term at = coordinates + negative * r.constant(Shape{1, m}, std::move(size));
  if (m == 1) return at;
  return reduce("reduce_sum", at * r.constant(Shape{1, m}, std::move(stride)), {1});
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
