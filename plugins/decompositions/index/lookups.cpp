// SPDX-License-Identifier: Apache-2.0
// Elements taken from places that are known only when the model runs: products with a matrix that has a 1 at each index.
//
//   gather(x, i)           hits(i = 0, 1, …) x, the indices being rows and the places columns; x's leading axes are its batch
//   gather_nd(x, i)        the same with products of the hits of all coordinates; where these are of single elements, the row by all but
//   the
//                          last coordinate, and of it the sum of its elements times the hits of the last
//   gather_elements(x, i)  for each line its own hits, times the line, added up
//   reverse_sequence(x, l) the place of step t is l - 1 - t before the end l of its sequence, and t behind it
//
// Each index is compared with each place: good for hundreds of places, while large embeddings belong to the host. So there is a limit
// (kMaxComparedPlaces, kMaxCompared). An element that is infinite or no number spoils what is taken from the same line (0 times infinity).
// Indices outside x give zeros.
#include "rules.hpp"

#include <buda/passes/integers/digit_parts.hpp>
#include <buda/passes/simplify/constant_value.hpp>

#include <algorithm>

namespace buda::index {
namespace {

using namespace plugin;
using graph::Graph;
using graph::Node;

const Shape& shape_of(const Graph& graph, const Node& n, std::size_t input) { return graph.type(n.inputs()[input].source)->shape; }

std::int64_t attribute(const Node& n, const char* name, std::int64_t standard) {
  auto it = n.attrs.find(name);
  return it == n.attrs.end() ? standard : std::get<std::int64_t>(it->second);
}

bool are_few(std::int64_t indices, std::int64_t places) {
  return indices > 0 && places > 0 && places <= passes::kMaxComparedPlaces && indices <= kMaxCompared / places;
}

// ---- gather

Term gather(Rewrite& r) {
  auto axis = static_cast<std::size_t>(r.axis("dim"));
  Term x = r.in(0);
  Index index = index_of(r, 1);
  Shape shape = r.shape(x);
  std::int64_t n = shape[axis], count = volume_of(shape_of(r, index));
  std::int64_t outer = volume_of(shape, 0, axis), inner = volume_of(shape, axis + 1, shape.rank());
  // Places that are the last axis are columns: the indices then stand in a row.
  bool columns = inner == 1 && outer > 1;
  r.keep_exact(true);
  Index at = wrapped(reshaped(r, index, columns ? Shape{1, count} : Shape{count, 1}), n);
  Term chosen = hits(r, at, 2, columns ? 0 : 1, n);
  r.keep_exact(is_integer(r.result().dtype));
  if (columns) return r.reshape(r.op("matmul", {r.reshape(x, Shape{outer, n}), chosen}), r.result().shape);
  Term flat = r.reshape(x, outer == 1 ? Shape{n, inner} : Shape{outer, n, inner});
  return r.reshape(r.op("matmul", {chosen, flat}), r.result().shape);
}

bool gathers_a_little(const Graph& graph, const Node& n) {
  if (passes::value_of(graph, n.inputs()[1]) != nullptr) return false;  // a selection, which moves data and computes nothing
  const Shape& x = shape_of(graph, n, 0);
  auto axis = x.axis(attribute(n, "dim", 0));
  return axis && x.volume() != 0 && are_few(volume_of(shape_of(graph, n, 1)), x[*axis]);
}

// ---- gather_nd

struct Coordinates {
  std::size_t batch_axes;
  Shape sizes;  // of the axes that the coordinates are of
  std::int64_t batch, count, inner;
};

Coordinates coordinates_of(const Shape& x, const Shape& index, std::int64_t batch_dims) {
  auto axes = static_cast<std::size_t>(batch_dims);
  auto m = static_cast<std::size_t>(index[index.rank() - 1]);
  Dims sizes(x.begin() + batch_dims, x.begin() + batch_dims + static_cast<std::ptrdiff_t>(m));
  return {axes, Shape(sizes), volume_of(x, 0, axes), volume_of(index, axes, index.rank() - 1), volume_of(x, axes + m, x.rank())};
}

// Whether single elements are taken, of which all coordinates but the last say the row.
bool takes_rows_first(const Coordinates& c) { return c.batch_axes == 0 && c.inner == 1 && c.sizes.rank() > 1; }

Term gather_by_rows(Rewrite& r, const Term& x, const Index& index, const Coordinates& c) {
  const std::int64_t size = c.sizes[c.sizes.rank() - 1], rows = volume_of(c.sizes) / size;
  r.keep_exact(true);
  const auto [row, place] = hits_of_rows(r, index, c.sizes, c.count);
  r.keep_exact(is_integer(r.result().dtype));
  Term taken = r.op("matmul", {row, r.reshape(x, Shape{rows, size})});
  return r.reshape(reduce("reduce_sum", taken * place, {1}), r.result().shape);
}

Term gather_nd(Rewrite& r) {
  Term x = r.in(0);
  Index index = index_of(r, 1);
  Coordinates c = coordinates_of(r.shape(x), shape_of(r, index), r.integer("batch_dims"));
  if (takes_rows_first(c)) return gather_by_rows(r, x, index, c);
  r.keep_exact(true);
  std::int64_t places = volume_of(c.sizes);
  Index rows = reshaped(r, index, Shape{c.batch * c.count, static_cast<std::int64_t>(c.sizes.rank())});
  bool single = c.batch == 1;
  Term chosen = hits_of_coordinates(r, rows, c.sizes, single ? Shape{c.count, 1} : Shape{c.batch, c.count, 1});
  r.keep_exact(is_integer(r.result().dtype));
  Term flat = r.reshape(x, single ? Shape{places, c.inner} : Shape{c.batch, places, c.inner});
  return r.reshape(r.op("matmul", {chosen, flat}), r.result().shape);
}

bool gathers_few_slices(const Graph& graph, const Node& n) {
  const Shape &x = shape_of(graph, n, 0), &index = shape_of(graph, n, 1);
  if (x.volume() == 0 || index.volume() == 0) return false;
  Coordinates c = coordinates_of(x, index, attribute(n, "batch_dims", 0));
  const std::int64_t places = volume_of(c.sizes);
  if (!takes_rows_first(c)) return are_few(c.batch * c.count, places);
  const std::int64_t size = c.sizes[c.sizes.rank() - 1];
  return are_few(c.count, places / size) && are_few(c.count, size);
}

// ---- gather_elements

// One index for each line, whose size along the axis is 1.
Term gather_one(Rewrite& r) {
  std::int64_t axis = r.axis("dim");
  Term x = r.in(0);
  Shape shape = r.shape(x);
  std::int64_t n = shape[static_cast<std::size_t>(axis)];
  r.keep_exact(true);
  Index index = wrapped(index_of(r, 1), n);
  Term chosen = hits(r, index, shape.rank(), axis, n);
  r.keep_exact(is_integer(r.result().dtype));
  return reduce("reduce_sum", x * chosen, {axis});
}

bool has_one_index(const Graph& graph, const Node& n) {
  const Shape &x = shape_of(graph, n, 0), &indices = shape_of(graph, n, 1);
  auto axis = x.axis(attribute(n, "dim", 0));
  if (!axis || indices.rank() != x.rank()) return false;
  for (std::size_t i = 0; i < x.rank(); ++i)
    if (indices[i] != (i == *axis ? 1 : x[i])) return false;
  return true;
}

Term gather_elements(Rewrite& r) {
  std::int64_t axis = r.axis("dim");
  Term x = r.in(0);
  Index index = index_of(r, 1);
  Shape from = r.shape(x), to = shape_of(r, index);
  Dims axes, starts, stops;
  for (std::size_t i = 0; i < from.rank(); ++i) {
    if (static_cast<std::int64_t>(i) == axis || from[i] == to[i]) continue;
    axes.push_back(static_cast<std::int64_t>(i));
    starts.push_back(0);
    stops.push_back(to[i]);
  }
  if (!axes.empty()) x = r.op("slice", {x}, {{"dims", axes}, {"starts", starts}, {"stops", stops}});
  auto along = static_cast<std::size_t>(axis);
  std::int64_t n = from[along], k = to[along], lines = volume_of(to) / k;
  r.keep_exact(true);
  Index places = with_axis_last(r, index, axis);
  Shape result = shape_of(r, places);
  Index at = wrapped(reshaped(r, places, Shape{lines, k, 1}), n);
  Term chosen = hits(r, at, 3, 2, n);
  r.keep_exact(is_integer(r.result().dtype));
  Term line = r.reshape(with_axis_last(r, x, axis), Shape{lines, 1, n});
  Term y = reduce("reduce_sum", chosen * line, {2});
  return with_axis_back(r, r.reshape(y, result), axis);
}

bool gathers_few_elements(const Graph& graph, const Node& n) {
  const Shape& x = shape_of(graph, n, 0);
  auto axis = x.axis(attribute(n, "dim", 0));
  return axis && !has_one_index(graph, n) && x.volume() != 0 && are_few(volume_of(shape_of(graph, n, 1)), x[*axis]);
}

// ---- reverse_sequence

Term reverse_sequence(Rewrite& r) {
  Term x = r.in(0);
  Term lengths = r.in(1);
  Shape shape = r.shape(x);
  auto batch_axis = static_cast<std::size_t>(r.axis("batch_dim")), time_axis = static_cast<std::size_t>(r.axis("time_dim"));
  std::int64_t batch = shape[batch_axis], steps = shape[time_axis];
  Dims order{static_cast<std::int64_t>(batch_axis), static_cast<std::int64_t>(time_axis)}, back(shape.rank());
  for (std::size_t i = 0; i < shape.rank(); ++i)
    if (i != batch_axis && i != time_axis) order.push_back(static_cast<std::int64_t>(i));
  for (std::size_t i = 0; i < order.size(); ++i) back[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
  bool in_order = std::is_sorted(order.begin(), order.end());
  Term first = in_order ? x : r.op("transpose", {x}, {{"perm", order}});
  Shape moved = r.shape(first);

  r.keep_exact(true);
  Term end = r.reshape(lengths, Shape{batch, 1, 1});
  Term step = ramp(r, 3, 1, steps);
  Term inside = above(end, step);
  Term distance = end - ramp(r, 3, 1, steps, 1, 2);  // from step t to end - 1 - t
  Term place = step + inside * distance;
  Term chosen = hits(place, ramp(r, 3, 2, steps));
  r.keep_exact(is_integer(r.result().dtype));
  Term flat = r.reshape(first, Shape{batch, steps, volume_of(moved, 2, moved.rank())});
  Term y = r.reshape(r.op("matmul", {chosen, flat}), moved);
  return in_order ? y : r.op("transpose", {y}, {{"perm", back}});
}

bool has_few_steps(const Graph& graph, const Node& n) {
  const Shape& x = shape_of(graph, n, 0);
  auto batch = x.axis(attribute(n, "batch_dim", 1)), time = x.axis(attribute(n, "time_dim", 0));
  return batch && time && x.volume() != 0 && are_few(x[*batch] * x[*time], x[*time]);
}

}  // namespace

std::vector<RuleSpec> lookup_rules() {
  RuleSpec one = index_rule("gather_one", "the sum of a line times a comparison", gather_one, has_one_index);
  one.consumes = {"gather_elements"};
  return {
      std::move(one),
      index_rule("gather", "a product with a comparison of indices and places", gather, gathers_a_little),
      index_rule("gather_nd", "the same for coordinates", gather_nd, gathers_few_slices),
      index_rule("gather_elements", "for each line the sum of its elements times a comparison", gather_elements, gathers_few_elements),
      index_rule("reverse_sequence", "a product with a comparison of steps and their places", reverse_sequence, has_few_steps),
  };
}

}  // namespace buda::index
