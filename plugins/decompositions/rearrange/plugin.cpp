// SPDX-License-Identifier: Apache-2.0
// Decomposition plugin `rearrange`: borders that continue a value, and repetitions, as gathers with constant indices.
//
//   pad_continued(x)   along each axis with a border: its places mirrored (reflect), clamped (edge) or counted on from the other end (wrap)
//   tile(x)            along each axis that is repeated: its places again and again
//
// A gather with constant indices moves rows by a picker and computes nothing.
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

Term taken(Rewrite& r, const Term& x, std::size_t axis, Dims places) {
  auto count = static_cast<std::int64_t>(places.size());
  Term indices = r.constant_as_is(Shape{count}, std::move(places));
  return r.op("gather", {x, indices}, {{"dim", static_cast<std::int64_t>(axis)}});
}

// The place in an axis of n elements that an element `at`, before, inside or after it, continues.
std::int64_t continued(std::int64_t at, std::int64_t n, const std::string& mode) {
  if (mode == "edge") return std::clamp<std::int64_t>(at, 0, n - 1);
  if (mode == "wrap") return (at % n + n) % n;
  if (n == 1) return 0;
  std::int64_t period = 2 * (n - 1), within = (at % period + period) % period;
  return std::min(within, period - within);
}

Term pad_continued(Rewrite& r) {
  Term x = r.raw(0);
  Shape shape = r.shape(x);
  Dims before = r.integers("before"), after = r.integers("after");
  for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
    if (before[axis] == 0 && after[axis] == 0) continue;
    Dims places;
    for (std::int64_t at = -before[axis]; at < shape[axis] + after[axis]; ++at)
      places.push_back(continued(at, shape[axis], r.text("mode")));
    x = taken(r, x, axis, std::move(places));
  }
  return x;
}

Term tile(Rewrite& r) {
  Term x = r.raw(0);
  Shape shape = r.shape(x);
  Dims repeats = r.integers("repeats");
  // The last axis first: what is repeated later is repeated in larger pieces.
  for (std::size_t axis = shape.rank(); axis-- > 0;) {
    if (repeats[axis] == 1) continue;
    Dims places;
    for (std::int64_t i = 0; i < repeats[axis] * shape[axis]; ++i) places.push_back(i % shape[axis]);
    x = taken(r, x, axis, std::move(places));
  }
  return x;
}

bool is_not_empty(const Graph& graph, const Node& n) {
  return graph.type(n.inputs()[0].source)->shape.volume() != 0 && n.outputs[0].shape.volume() != 0;
}

RuleSpec spec(std::string op, std::string summary, Term (*build)(Rewrite&)) {
  return {.name = op,
          .summary = std::move(summary),
          .consumes = {op},
          .produces = {"gather"},
          .build = build,
          .takes = Takes::anything,
          .matches = is_not_empty};
}

}  // namespace

BUDA_PLUGIN(.name = "rearrange", .version = "1.0", .description = "continued borders and repetitions as gathers", .license = "Apache-2.0") {
  registrar.add_decomposition(rule(spec("pad_continued", "mirrored, repeated and wrapped borders by constant indices", pad_continued)));
  registrar.add_decomposition(rule(spec("tile", "repetitions by constant indices", tile)));
}
