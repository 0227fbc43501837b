// SPDX-License-Identifier: Apache-2.0
// Decomposition plugin `index`: ops that give or take places of elements, through comparisons with 0, 1, 2, ….
//
//   argmax(x), argmin    m = max(x); n - 1 - max((x = m) (n - 1 - i)) is the first place, max((x = m) i) the last: from 0 to n - 1 whatever
//   x topk(x), k <= 32     the largest, its first place, then the same with this element made -infinity, where it is not found again
//   one_hot(i)           (i = 0, 1, …), with other values than 0 and 1 by a scale and a shift; negative indices count from the end
//   cumsum(x)            a product with a triangle of ones
//   triangle(x)          a product with a mask
//
// Lookups by indices that the model computes are in lookups.cpp, the way back in scatters.cpp, and n-grams in ngrams.cpp.
//
// Indices are numbers in F32, or digits where they are large (digit_parts.hpp). Equal is what the format cannot tell apart (see plugin
// `compare`), so that in a 16-bit format argmax may give an earlier one of two nearly equal elements.
#include "rules.hpp"

#include <buda/graph/graph.hpp>
#include <buda/plugin/decomposition.hpp>
#include <buda/plugin/plugin.hpp>

#include <algorithm>
#include <limits>

namespace {

using namespace buda::plugin;
using buda::Shape;
using buda::graph::Graph;
using buda::graph::Node;
using buda::index::Dims;
using buda::index::ramp;

constexpr std::int64_t kMaxTop = 32;

// The distance of each place along an axis from the last one (or the first): what is largest where a place is found that comes first
// (last).
Term distances(Rewrite& r, const Shape& shape, std::int64_t axis, bool last) {
  std::int64_t n = shape[static_cast<std::size_t>(axis)];
  return last ? ramp(r, shape.rank(), axis, n, 0, 1) : ramp(r, shape.rank(), axis, n, static_cast<double>(n - 1), -1);
}

// The place of the first (last) element along an axis, which is kept, that is `most`.
Term place_of(const Term& most, const Term& x, const Term& distance, std::int64_t axis, bool last) {
  Term equal = 1 - above(most, x);
  Term far = reduce("reduce_max", equal * distance, {axis});
  std::int64_t n = x.rewrite->shape(x)[static_cast<std::size_t>(axis)];
  return last ? far : static_cast<double>(n - 1) - far;
}

// A NaN is the largest and the smallest of all, and packers make it an infinity, of whatever sign it has: elements of a NaN become the
// largest before they are compared. Beside an infinity of the same sign, the first of both is found.
Term with_nan_first(const Term& x, const Term& from) {
  Term beyond = nan_excess(from);
  // Halfway to what a NaN is at least; further from it than any number can be told from infinity.
  Term found = (beyond - 0x1p120) * 0x1p10;
  return maximum(x, found);
}

Term arg(Rewrite& r, bool smallest) {
  std::int64_t axis = r.axis("dim");
  bool last = r.flag("last");
  Term given = r.in(0);
  Term x = smallest ? -given : given;
  if (may_hold_nan(r.graph(), r.inputs()[0])) x = with_nan_first(x, given);
  Term distance = distances(r, r.shape(x), axis, last);
  Term place = place_of(reduce("reduce_max", x, {axis}), x, distance, axis, last);
  return r.shape(place) == r.result().shape ? place : r.reshape(place, r.result().shape);
}
Term argmax(Rewrite& r) { return arg(r, false); }
Term argmin(Rewrite& r) { return arg(r, true); }

Term one_hot(Rewrite& r) {
  std::int64_t depth = r.integer("depth");
  auto rank = static_cast<std::int64_t>(r.result().shape.rank());
  std::int64_t axis = r.integer("dim");
  if (axis < 0) axis += rank;
  buda::index::Index index = buda::index::index_of(r, 0);
  Dims dims = buda::index::shape_of(r, index).dims();
  dims.insert(dims.begin() + axis, 1);
  index = buda::index::wrapped(buda::index::reshaped(r, index, Shape(dims)), depth);
  Term hot = buda::index::hits(r, index, static_cast<std::size_t>(rank), axis, depth);
  Term values = r.in(1);
  Term off = r.op("slice", {values}, {{"dims", Dims{0}}, {"starts", Dims{0}}, {"stops", Dims{1}}});
  Term on = r.op("slice", {values}, {{"dims", Dims{0}}, {"starts", Dims{1}}, {"stops", Dims{2}}});
  Term span = on - off;
  return hot * span + off;
}

Term cumsum(Rewrite& r) {
  std::int64_t axis = r.axis("dim");
  Term x = r.in(0);
  Shape shape = r.shape(x);
  auto at = static_cast<std::size_t>(axis);
  std::int64_t n = shape[at], outer = 1, inner = 1;
  for (std::size_t i = 0; i < shape.rank(); ++i)
    if (i != at) (i < at ? outer : inner) *= shape[i];
  bool columns = inner == 1, exclusive = r.flag("exclusive"), reverse = r.flag("reverse");
  // Element (i, j) counts i's contribution to j along c, and j's to i along r.
  std::vector<float> ones;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      std::int64_t from = columns ? i : j, to = columns ? j : i;
      if (reverse) std::swap(from, to);
      ones.push_back(from < to || (!exclusive && from == to) ? 1.0f : 0.0f);
    }
  Term triangle = r.constant(Shape{n, n}, std::move(ones));
  bool lies_well = axis + 2 >= static_cast<std::int64_t>(shape.rank()) && shape.rank() >= 2;
  if (lies_well && columns && at + 1 == shape.rank()) return r.op("matmul", {x, triangle});
  if (lies_well && !columns) return r.op("matmul", {triangle, x});
  Term flat = columns ? r.reshape(x, Shape{outer, n}) : r.reshape(x, Shape{outer, n, inner});
  Term sums = columns ? r.op("matmul", {flat, triangle}) : r.op("matmul", {triangle, flat});
  return r.reshape(sums, shape);
}

bool is_small(const Graph& graph, const Node& n) {
  const Shape& x = graph.type(n.inputs()[0].source)->shape;
  auto it = n.attrs.find("dim");
  auto axis = x.axis(it == n.attrs.end() ? -1 : std::get<std::int64_t>(it->second));
  return axis && x[*axis] > 0 && x[*axis] <= 4096;
}

Term triangle(Rewrite& r) {
  const Shape& shape = r.type(0).shape;
  std::int64_t rows = shape[shape.rank() - 2], columns = shape[shape.rank() - 1], diagonal = r.integer("diagonal");
  bool upper = r.flag("upper");
  std::vector<float> mask;
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j) mask.push_back((upper ? j - i >= diagonal : j - i <= diagonal) ? 1.0f : 0.0f);
  Term x = r.in(0);
  return masked(x, r.constant(Shape{rows, columns}, std::move(mask)));
}

bool is_not_empty(const Graph& graph, const Node& n) { return graph.type(n.inputs()[0].source)->shape.volume() != 0; }

// The k largest, one after the other. Values and places are two results, so that this is no formula.
class Topk final : public buda::passes::Decomposition {
 public:
  std::vector<std::string> consumes() const override { return {"topk"}; }
  std::vector<std::string> produces() const override {
    return {"negative", "reduce_max", "subtract", "multiply", "clip", "abs", "add", "maximum", "concatenate", "exact_cast", "cast"};
  }
  bool matches(const Graph& graph, const Node& n) const override {
    std::int64_t k = std::get<std::int64_t>(n.attrs.find("k")->second);
    return buda::is_float(n.outputs[0].dtype) && k >= 1 && k <= kMaxTop && is_small(graph, n);
  }

  buda::Result<void> rewrite(buda::graph::GraphEditor& editor, buda::graph::NodeId id) override {
    Rewrite r(editor, id);
    std::int64_t axis = r.axis("dim"), k = r.integer("k");
    bool largest = r.flag("largest");
    Term given = r.in(0);
    Term x = largest ? given : -given;
    if (may_hold_nan(r.graph(), r.inputs()[0])) x = with_nan_first(x, given);
    std::size_t rank = r.shape(x).rank();
    std::int64_t n = r.shape(x)[static_cast<std::size_t>(axis)];
    std::vector<Term> values, places;
    Term distance = distances(r, r.shape(x), axis, false);
    for (std::int64_t i = 0; i < k; ++i) {
      Term most = reduce("reduce_max", x, {axis});
      Term place = place_of(most, x, distance, axis, false);
      values.push_back(largest ? most : -most);
      places.push_back(place);
      if (i + 1 == k) break;
      // Below all that is left; and where that is -infinity, too, this place is as far away as the last one and is not taken again.
      Term left = not_zero(ramp(r, rank, axis, n, 0, 1) - place);
      Term kept = masked(x, left);
      Term taken = 1 - left;
      x = kept + masked(r.number(-std::numeric_limits<double>::infinity()), taken);
      distance = distance * left;
    }
    Term all_values = k == 1 ? values[0] : r.op("concatenate", values, {{"dim", axis}});
    Term all_places = k == 1 ? places[0] : r.op("concatenate", places, {{"dim", axis}});
    Term whole = r.exactly(all_places, buda::DType::i64);
    Term converted = r.exactly(all_values, r.result().dtype);
    return r.finish_with({converted, whole});
  }
};

RuleSpec spec(std::string op, std::string summary, Term (*build)(Rewrite&), Takes takes) {
  return {.name = op,
          .summary = std::move(summary),
          .consumes = {op},
          .produces = {"negative", "reduce_max", "reduce_sum", "subtract", "multiply", "clip", "abs", "add", "maximum", "reshape", "slice",
                       "matmul"},
          .build = build,
          .takes = takes};
}

}  // namespace

BUDA_PLUGIN(.name = "index", .version = "1.0", .description = "places of elements through comparisons with 0, 1, 2, …",
            .license = "Apache-2.0") {
  registrar.add_decomposition(rule(spec("argmax", "the first place where the maximum is", argmax, Takes::anything)));
  registrar.add_decomposition(rule(spec("argmin", "likewise of the negatives", argmin, Takes::anything)));
  registrar.add_decomposition(decomposition_entry<Topk>("topk", "the largest one after the other"));
  RuleSpec hot = spec("one_hot", "a comparison with 0, 1, 2, …", one_hot, Takes::anything);
  registrar.add_decomposition(rule(std::move(hot)));
  RuleSpec sums = spec("cumsum", "a product with a triangle of ones", cumsum, Takes::floats);
  sums.matches = is_small;
  registrar.add_decomposition(rule(std::move(sums)));
  RuleSpec mask = spec("triangle", "a product with a mask", triangle, Takes::anything);
  mask.matches = is_not_empty;
  registrar.add_decomposition(rule(std::move(mask)));
  for (auto* rules : {&buda::index::lookup_rules, &buda::index::scatter_rules, &buda::index::ngram_rules})
    for (auto& each : rules()) registrar.add_decomposition(rule(std::move(each)));
}
