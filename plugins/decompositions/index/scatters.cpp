// SPDX-License-Identifier: Apache-2.0
// Elements put to places that are known only when the model runs.
//
//   scatter_elements, scatter_nd    hits(index = 0, 1, …), a row for each update and a column for each place; then
//     none    x (1 - any update hits) + updates × hits; of several updates at one place the last counts: the others' hits are taken away
//     add     x + updates × hits
//     mul     x times the product over updates of 1 + hit (update - 1)
//     max     the larger of x and of hit ? update : -2^120; min through negatives
//   max_unpool                      scatter_nd into zeros
//
// Where scatter_nd puts or adds single elements, hits are products of those of a row (all coordinates but the last) and of a place in it:
// x stays rows, and updates × hits = hits of rows, transposed, × (updates times hits of places).
//
// × is a matrix product. As in lookups.cpp there is a limit, and numbers that are not finite spoil others. Indices outside x do nothing.
#include <buda/graph/graph.hpp>

#include "rules.hpp"

#include <algorithm>

namespace buda::index {
namespace {

using namespace plugin;
using graph::Graph;
using graph::Node;

// Factors multiplied with one another (plugin `reduce`).
constexpr std::int64_t kMaxFactors = 64;
// Below all updates, and exact in all formats with 8 bits of exponent.
constexpr double kFarBelow = -1.329227995784916e36;  // -2^120

std::string reduction_of(const Node& n) {
  auto it = n.attrs.find("reduction");
  return it == n.attrs.end() ? "none" : std::get<std::string>(it->second);
}

// [count, places], of one place for each update.
Term hits_of_places(Rewrite& r, const Index& index, std::int64_t count, std::int64_t places) {
  r.keep_exact(true);
  Index place = reshaped(r, index, Shape{count, 1});
  Term chosen = hits(r, place, 2, 1, places);
  r.keep_exact(is_integer(r.result().dtype));
  return chosen;
}

// Without the hits of those updates that a later one overwrites. hits [lines, updates, places].
Term last_hits(Rewrite& r, const Term& hits, std::int64_t updates) {
  if (updates == 1) return hits;
  std::vector<float> later;
  for (std::int64_t i = 0; i < updates; ++i)
    for (std::int64_t j = 0; j < updates; ++j) later.push_back(j > i ? 1.0f : 0.0f);
  Term above_it = r.op("matmul", {r.constant(Shape{updates, updates}, std::move(later)), hits});
  return hits * (1 - clip(above_it, 0, 1));
}

// Lines of places x [lines, places], hits [lines, updates, places], updates [lines, 1, updates].
struct Scatter {
  Term x, hits, updates;
  std::int64_t lines, count, places;
};

Term overwritten(Rewrite& r, const Scatter& s) {
  Term hits = last_hits(r, s.hits, s.count);
  Term any = r.reshape(reduce("reduce_sum", hits, {1}), Shape{s.lines, s.places});
  Term put = r.reshape(r.op("matmul", {s.updates, hits}), Shape{s.lines, s.places});
  Term kept = s.x * (1 - any);
  return kept + put;
}

Term added(Rewrite& r, const Scatter& s) {
  Term put = r.op("matmul", {s.updates, s.hits});
  return s.x + r.reshape(put, Shape{s.lines, s.places});
}

// [lines, updates, places]: each update where it hits, and `otherwise` in all other places.
Term spread(Rewrite& r, const Scatter& s, const Term& updates, double otherwise) {
  Term column = r.reshape(updates, Shape{s.lines, s.count, 1});
  Term chosen = s.hits * column;
  Term missed = 1 - s.hits;
  return chosen + missed * otherwise;
}

Term multiplied(Rewrite& r, const Scatter& s) {
  Term factors = spread(r, s, s.updates, 1);
  return s.x * r.reshape(reduce("reduce_prod", factors, {1}), Shape{s.lines, s.places});
}

Term larger(Rewrite& r, const Scatter& s, bool smaller) {
  Term most = reduce("reduce_max", spread(r, s, smaller ? -s.updates : s.updates, kFarBelow), {1});
  most = r.reshape(most, Shape{s.lines, s.places});
  return smaller ? -maximum(-s.x, most) : maximum(s.x, most);
}

Term scattered(Rewrite& r, const Scatter& s, const std::string& reduction) {
  if (reduction == "none") return overwritten(r, s);
  if (reduction == "add") return added(r, s);
  if (reduction == "mul") return multiplied(r, s);
  return larger(r, s, reduction == "min");
}

// ---- scatter_elements

// The part of x that has places for updates, along all axes but the last.
Term part(Rewrite& r, const Term& x, const Shape& shape, const Shape& of) {
  Dims dims, starts, stops;
  for (std::size_t i = 0; i + 1 < shape.rank(); ++i) {
    if (shape[i] == of[i]) continue;
    dims.push_back(static_cast<std::int64_t>(i));
    starts.push_back(0);
    stops.push_back(of[i]);
  }
  return dims.empty() ? x : r.op("slice", {x}, {{"dims", dims}, {"starts", starts}, {"stops", stops}});
}

Term scatter_elements(Rewrite& r) {
  std::int64_t axis = r.axis("dim");
  Term x = with_axis_last(r, r.in(0), axis);
  Index index = with_axis_last(r, index_of(r, 1), axis);
  Term updates = with_axis_last(r, r.in(2), axis);
  Shape all = r.shape(x), few = shape_of(r, index);
  std::int64_t n = all[all.rank() - 1], k = few[few.rank() - 1], lines = volume_of(few) / k;
  Term touched = part(r, x, all, few);
  Shape shape = r.shape(touched);
  r.keep_exact(true);
  Index at = wrapped(reshaped(r, index, Shape{lines, k, 1}), n);
  Term chosen = hits(r, at, 3, 2, n);
  r.keep_exact(is_integer(r.result().dtype));
  Scatter s{r.reshape(touched, Shape{lines, n}), chosen, r.reshape(updates, Shape{lines, 1, k}), lines, k, n};
  Term y = r.reshape(scattered(r, s, r.text("reduction")), shape);
  if (shape != all) {
    // What changed, put into the corner of x.
    Dims before(all.rank(), 0), after;
    for (std::size_t i = 0; i < all.rank(); ++i) after.push_back(all[i] - shape[i]);
    y = x + r.op("pad", {y - touched}, {{"before", before}, {"after", after}});
  }
  return with_axis_back(r, y, axis);
}

bool scatters_few_elements(const Graph& graph, const Node& n) {
  const Shape &x = graph.type(n.inputs()[0].source)->shape, &index = graph.type(n.inputs()[1].source)->shape;
  auto it = n.attrs.find("dim");
  auto axis = x.axis(it == n.attrs.end() ? 0 : std::get<std::int64_t>(it->second));
  if (!axis || x.volume() == 0 || index.volume() == 0) return false;
  return volume_of(index) <= kMaxCompared / x[*axis] && (reduction_of(n) != "mul" || index[*axis] <= kMaxFactors);
}

// ---- scatter_nd

// Slices as lines of numbers: updates [count, inner] to the places of x [places, inner] that they hit, chosen [count, places].
Term scatter_slices(Rewrite& r, const Term& x, Term chosen, const Term& updates, std::int64_t count, std::int64_t places,
                    std::int64_t inner, const std::string& reduction) {
  Term slices = r.reshape(updates, Shape{count, inner});
  if (reduction == "none" || reduction == "add") {
    if (reduction == "none") chosen = last_hits(r, chosen, count);
    Term by_place = r.op("transpose", {chosen}, {{"perm", Dims{1, 0}}});
    Term put = r.op("matmul", {by_place, slices});
    if (reduction == "add") return x + put;
    Term kept = x * (1 - reduce("reduce_sum", by_place, {1}));
    return kept + put;
  }
  // Each column of the slices is a line.
  Term lines = r.op("transpose", {x}, {{"perm", Dims{1, 0}}});
  Term turned = r.op("transpose", {slices}, {{"perm", Dims{1, 0}}});
  Scatter s{lines, r.reshape(chosen, Shape{1, count, places}), r.reshape(turned, Shape{inner, 1, count}), inner, count, places};
  return r.op("transpose", {scattered(r, s, reduction)}, {{"perm", Dims{1, 0}}});
}

Term transposed(Rewrite& r, const Term& x) { return r.op("transpose", {x}, {{"perm", Dims{1, 0}}}); }

// Without what later updates overwrite: the products of both hits are then those of one update for each element at most.
Term rows_of_last(Rewrite& r, const RowHits& hits, std::int64_t count) {
  if (count == 1) return hits.row;
  std::vector<float> later;
  for (std::int64_t i = 0; i < count; ++i)
    for (std::int64_t j = 0; j < count; ++j) later.push_back(j > i ? 1.0f : 0.0f);
  const Term same_row = r.op("matmul", {hits.row, transposed(r, hits.row)});
  const Term same_place = r.op("matmul", {hits.place, transposed(r, hits.place)});
  const Term overwrites = same_row * same_place * r.constant(Shape{count, count}, std::move(later));
  return hits.row * (1 - clip(reduce("reduce_sum", overwrites, {1}), 0, 1));
}

Term scatter_elements_of_rows(Rewrite& r, const Term& x, const Index& index, const Term& updates, const Shape& sizes, std::int64_t count,
                              bool adds) {
  const std::int64_t size = sizes[sizes.rank() - 1], rows = volume_of(sizes) / size;
  r.keep_exact(true);
  const RowHits hits = hits_of_rows(r, index, sizes, count);
  const Term by_row = transposed(r, adds ? hits.row : rows_of_last(r, hits, count));
  const Term any = adds ? Term{} : r.op("matmul", {by_row, hits.place});
  r.keep_exact(is_integer(r.result().dtype));
  const Term flat = r.reshape(x, Shape{rows, size});
  const Term put = r.op("matmul", {by_row, hits.place * r.reshape(updates, Shape{count, 1})});
  return adds ? flat + put : flat * (1 - any) + put;
}

Term scatter_nd(Rewrite& r) {
  Term x = r.in(0);
  Index index = index_of(r, 1);
  Term updates = r.in(2);
  Shape shape = r.shape(x), rows = shape_of(r, index);
  auto m = static_cast<std::size_t>(rows[rows.rank() - 1]);
  std::int64_t count = volume_of(rows, 0, rows.rank() - 1);
  Shape sizes(Dims(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(m)));
  std::int64_t places = volume_of(sizes), inner = volume_of(shape, m, shape.rank());
  const std::string reduction = r.text("reduction");
  if (inner == 1 && m > 1 && (reduction == "none" || reduction == "add"))
    return r.reshape(scatter_elements_of_rows(r, x, index, updates, sizes, count, reduction == "add"), shape);
  r.keep_exact(true);
  Index coordinates = reshaped(r, index, Shape{count, static_cast<std::int64_t>(m)});
  Term chosen = hits_of_coordinates(r, coordinates, sizes, Shape{count, 1});
  r.keep_exact(is_integer(r.result().dtype));
  Term flat = r.reshape(x, Shape{places, inner});
  return r.reshape(scatter_slices(r, flat, chosen, updates, count, places, inner, reduction), shape);
}

bool scatters_few_slices(const Graph& graph, const Node& n) {
  const Shape &x = graph.type(n.inputs()[0].source)->shape, &index = graph.type(n.inputs()[1].source)->shape;
  if (x.volume() == 0 || index.volume() == 0) return false;
  std::size_t axes = index.rank() - 1;
  auto m = static_cast<std::size_t>(index[axes]);
  std::int64_t count = volume_of(index, 0, axes), places = volume_of(x, 0, m), inner = volume_of(x, m, x.rank());
  std::string reduction = reduction_of(n);
  bool is_sum = reduction == "none" || reduction == "add";
  return count <= kMaxCompared / places / (is_sum ? 1 : inner) && (reduction != "mul" || count <= kMaxFactors);
}

// ---- max_unpool

Term max_unpool(Rewrite& r) {
  Term x = r.in(0);
  Index index = index_of(r, 1);
  std::int64_t count = volume_of(r.shape(x)), places = volume_of(r.result().shape);
  // The products of a column are one column: places along the rows need no zeros to begin with.
  Term chosen = last_hits(r, hits_of_places(r, index, count, places), count);
  return r.reshape(r.op("matmul", {r.reshape(x, Shape{1, count}), chosen}), r.result().shape);
}

bool unpools_a_little(const Graph& graph, const Node& n) {
  const Shape& x = graph.type(n.inputs()[0].source)->shape;
  return x.volume() != 0 && volume_of(x) <= kMaxCompared / std::max<std::int64_t>(1, volume_of(n.outputs[0].shape));
}

}  // namespace

std::vector<RuleSpec> scatter_rules() {
  return {
      index_rule("scatter_elements", "products with a comparison of indices and places", scatter_elements, scatters_few_elements),
      index_rule("scatter_nd", "the same for slices at coordinates", scatter_nd, scatters_few_slices),
      index_rule("max_unpool", "a product with a comparison of indices and places", max_unpool, unpools_a_little),
  };
}

}  // namespace buda::index
