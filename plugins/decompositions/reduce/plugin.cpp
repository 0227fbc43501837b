// SPDX-License-Identifier: Apache-2.0
// Decomposition plugin `reduce`: reductions in terms of sums, means and maxima that keep their axes.
//
//   reduce_min(x)                     -max(-x)
//   reduce_prod(x), at most 64 long   halves multiplied with one another until one is left, axis by axis
//   without keep_dims                 with it, then a reshape
//   over leading axes of four or more [w, z, r, c] -> [w, z r c], reduced over the first axis: chips work through w one after the other
//   maximum, minimum of integers in F32
#include <buda/graph/graph.hpp>
#include <buda/plugin/plugin.hpp>
#include <buda/plugin/rule.hpp>

#include <algorithm>

namespace {

using namespace buda::plugin;
using buda::Shape;
using buda::graph::Graph;
using buda::graph::Node;
using Dims = std::vector<std::int64_t>;

constexpr std::int64_t kLongestProduct = 64;

// The reduced axes from the front, in rising order.
Dims axes_of(const Shape& shape, Dims dims) {
  auto rank = static_cast<std::int64_t>(shape.rank());
  if (dims.empty())
    for (std::int64_t i = 0; i < rank; ++i) dims.push_back(i);
  for (std::int64_t& d : dims)
    if (d < 0) d += rank;
  std::sort(dims.begin(), dims.end());
  return dims;
}

Dims given_dims(const Node& n) {
  auto it = n.attrs.find("dims");
  return it == n.attrs.end() ? Dims{} : std::get<Dims>(it->second);
}

// ---- minimum, products

Term minimum(Rewrite& r) {
  Term x = r.in(0);
  Dims axes = axes_of(r.shape(x), r.integers("dims"));
  Term y = -reduce("reduce_max", -x, axes);
  return r.reshape(y, r.result().shape);
}

Term part(Rewrite& r, const Term& x, std::int64_t axis, std::int64_t start, std::int64_t stop) {
  return r.op("slice", {x}, {{"dims", Dims{axis}}, {"starts", Dims{start}}, {"stops", Dims{stop}}});
}

Term product(Rewrite& r) {
  Term x = r.in(0);
  for (std::int64_t axis : axes_of(r.shape(x), r.integers("dims"))) {
    for (std::int64_t n = r.shape(x)[static_cast<std::size_t>(axis)]; n > 1;) {
      std::int64_t half = n / 2;
      Term first = part(r, x, axis, 0, half);
      Term second = part(r, x, axis, half, 2 * half);
      Term y = first * second;
      if (n % 2 != 0) {
        Term last = part(r, x, axis, n - 1, n);
        y = half == 1 ? y * last : r.op("concatenate", {y, last}, {{"dim", axis}});
      }
      x = y;
      n = half == 1 ? 1 : half + n % 2;
    }
  }
  return r.reshape(x, r.result().shape);
}

bool is_short(const Graph& graph, const Node& n) {
  const Shape& shape = graph.type(n.inputs()[0].source)->shape;
  Dims axes = axes_of(shape, given_dims(n));
  return std::all_of(axes.begin(), axes.end(), [&](std::int64_t axis) {
    return shape[static_cast<std::size_t>(axis)] <= kLongestProduct && shape[static_cast<std::size_t>(axis)] > 0;
  });
}

// ---- sums, means and maxima that the lowering does not know

Term with_axes(Rewrite& r) {
  Term x = r.in(0);
  return r.reshape(reduce(r.op_name(), x, axes_of(r.shape(x), r.integers("dims"))), r.result().shape);
}

bool drops_axes(const Graph&, const Node& n) {
  auto it = n.attrs.find("keep_dims");
  return it != n.attrs.end() && !std::get<bool>(it->second) && !n.outputs[0].shape.dims().empty();
}

// Axes that lie on w: all but the last three.
bool reduces_batch(const Graph& graph, const Node& n) {
  const Shape& shape = graph.type(n.inputs()[0].source)->shape;
  Dims axes = axes_of(shape, given_dims(n));
  for (std::size_t i = 0; i + 3 < shape.rank(); ++i)
    if (shape[i] != 1 && std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(i)) != axes.end()) return true;
  return false;
}

// Axes from the front to the last reduced one are reduced, or have size 1.
std::size_t reduced_prefix(const Shape& shape, const Dims& axes) {
  std::size_t end = 0;
  for (std::size_t i = 0; i < shape.rank(); ++i) {
    bool reduced = std::find(axes.begin(), axes.end(), static_cast<std::int64_t>(i)) != axes.end();
    if (!reduced && shape[i] != 1) break;
    end = i + 1;
  }
  return end;
}

// Whether nothing but a prefix of the axes is reduced.
bool is_prefix(const Graph& graph, const Node& n) {
  const Shape& shape = graph.type(n.inputs()[0].source)->shape;
  Dims axes = axes_of(shape, given_dims(n));
  auto end = static_cast<std::int64_t>(reduced_prefix(shape, axes));
  return reduces_batch(graph, n) &&
         std::all_of(axes.begin(), axes.end(), [&](std::int64_t a) { return a < end || shape[static_cast<std::size_t>(a)] == 1; });
}

Term over_prefix(Rewrite& r) {
  Term x = r.in(0);
  Shape shape = r.shape(x);
  std::int64_t outer = 1, inner = 1;
  std::size_t end = reduced_prefix(shape, axes_of(shape, r.integers("dims")));
  for (std::size_t i = 0; i < shape.rank(); ++i) (i < end ? outer : inner) *= shape[i];
  // A single line of numbers lies along c, where sums are cheapest.
  Term flat = inner == 1 ? r.reshape(x, Shape{1, outer}) : r.reshape(x, Shape{outer, inner});
  return r.reshape(reduce(r.op_name(), flat, {inner == 1 ? 1 : 0}), r.result().shape);
}

bool is_whole(const Graph& graph, const Node& n) { return !buda::is_float(graph.type(n.inputs()[0].source)->dtype); }

}  // namespace

BUDA_PLUGIN(.name = "reduce", .version = "1.0", .description = "reductions of every kind and axis through sums and maxima",
            .license = "Apache-2.0") {
  const std::vector<std::string> kinds = {"reduce_sum", "reduce_avg", "reduce_max"};
  const std::vector<std::string> produces = {"reduce_sum", "reduce_avg", "reduce_max", "reshape"};
  registrar.add_decomposition(rule({.name = "reduce_min",
                                    .summary = "a maximum of negatives",
                                    .consumes = {"reduce_min"},
                                    .produces = {"negative", "reduce_max", "reshape"},
                                    .build = minimum,
                                    .takes = Takes::anything}));
  registrar.add_decomposition(rule({.name = "reduce_prod",
                                    .summary = "halves multiplied with one another",
                                    .consumes = {"reduce_prod"},
                                    .produces = {"slice", "multiply", "concatenate", "reshape"},
                                    .build = product,
                                    .matches = is_short}));
  registrar.add_decomposition(rule({.name = "reduce_batch",
                                    .summary = "leading axes joined to one that a chip can reduce",
                                    .consumes = kinds,
                                    .produces = produces,
                                    .build = over_prefix,
                                    .matches = is_prefix}));
  registrar.add_decomposition(rule({.name = "reduce_keep",
                                    .summary = "keep the reduced axes, then reshape",
                                    .consumes = kinds,
                                    .produces = produces,
                                    .build = with_axes,
                                    .matches = drops_axes}));
  registrar.add_decomposition(rule({.name = "reduce_whole",
                                    .summary = "the largest of integers as one of floating-point numbers",
                                    .consumes = {"reduce_max"},
                                    .produces = produces,
                                    .build = with_axes,
                                    .takes = Takes::anything,
                                    .matches = is_whole}));
}
