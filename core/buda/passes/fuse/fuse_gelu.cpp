// SPDX-License-Identifier: Apache-2.0
// fuse-gelu: the formula of gelu, as exporters write it out, becomes the op that the chips have.
//
// before                                        after
//   s = divide(x, 1.4142135)                      y = gelu(x)
//   e = erf(s)
//   f = add(e, 1)
//   m = multiply(x, f)
//   y = multiply(m, 0.5)
//
// x Φ(x) is a product of x, of 1 + erf(x / √2) and of one half: in any order, with the half on x, on the sum or on their product, and with
// factors for divisors. What is between erf and y has no other user. The tag `dont_fuse` on any of these ops opts out.
#include <buda/graph/editor.hpp>
#include <buda/passes/pipeline/standard_passes.hpp>

#include <buda/ops/whole_graph/builder.hpp>
#include <buda/passes/fuse/fusing.hpp>
#include <buda/passes/simplify/candidates.hpp>
#include <buda/passes/simplify/constant_value.hpp>

#include <cmath>

namespace buda::passes {
namespace {

using graph::Edge;
using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::ValueRef;

constexpr double kHalfRoot = 0.70710678118654752440;  // 1 / √2
// 1 / √2 in bf16 is as near as this.
constexpr double kNear = 2e-4;
// More factors in a row than any exporter writes.
constexpr int kMaxFactors = 4;

bool is_about(double a, double b) { return std::abs(a - b) <= kNear * std::abs(b); }

// A value times a number.
struct ScaledValue {
  Edge of;
  double by = 1;
};

// What a product or quotient with one known number scales, and by what.
std::optional<ScaledValue> unscaled(const Graph& g, const Node& n) {
  if (n.op() != "multiply" && n.op() != "divide") return std::nullopt;
  if (auto number = uniform_value(g, n.inputs()[1])) return ScaledValue{n.inputs()[0], n.op() == "divide" ? 1 / *number : *number};
  if (n.op() == "divide") return std::nullopt;
  if (auto number = uniform_value(g, n.inputs()[0])) return ScaledValue{n.inputs()[1], *number};
  return std::nullopt;
}

// Of the values of which `value` is a multiple, itself included, the first that passes the test.
template <class Test>
std::optional<ScaledValue> multiple_of(const Graph& g, const Edge& value, Test is_wanted) {
  ScaledValue at{value, 1};
  for (int i = 0; i <= kMaxFactors; ++i) {
    if (is_wanted(at)) return at;
    auto next = unscaled(g, g.node(at.of.source.node));
    if (!next) break;
    at = {next->of, at.by * next->by};
  }
  return std::nullopt;
}

// 1 + erf, if that is what the only user of erf makes of it.
std::optional<NodeId> sum_with_one(const Graph& g, NodeId erf) {
  if (g.use_count(erf) != 1) return std::nullopt;
  const Node& sum = g.node(g.users(erf).front().node);
  if (sum.op() != "add" || !may_fuse(sum)) return std::nullopt;
  std::size_t other = sum.inputs()[0].source.node == erf ? 1 : 0;
  auto one = uniform_value(g, sum.inputs()[other]);
  return one && is_about(*one, 1) ? std::optional(sum.id()) : std::nullopt;
}

// Where the product is complete that `factor` begins, of itself, x and one half.
std::optional<NodeId> completed_product(const Graph& g, NodeId factor, const Edge& x) {
  bool has_x = false;
  double number = 1;
  NodeId at = factor;
  for (int i = 0; i <= kMaxFactors; ++i) {
    if (g.use_count(at) != 1) return std::nullopt;
    const Node& n = g.node(g.users(at).front().node);
    if (!n.is_op() || !may_fuse(n)) return std::nullopt;
    if (auto scaled = unscaled(g, n)) {
      number *= scaled->by;
    } else {
      if (n.op() != "multiply" || has_x) return std::nullopt;
      const Edge& other = n.inputs()[n.inputs()[0].source.node == at ? 1 : 0];
      auto part = multiple_of(g, other, [&](const ScaledValue& s) { return s.of.source == x.source; });
      if (!part) return std::nullopt;
      number *= part->by;
      has_x = true;
    }
    at = n.id();
    if (has_x && is_about(number, 0.5)) return at;
  }
  return std::nullopt;
}

Result<PassReport> fuse_gelu(Graph& graph, PassContext& context) {
  PassReport report;
  for (NodeId id : ops_of_types(graph, {"erf"})) {
    if (!graph.contains(id) || !may_fuse(graph.node(id))) continue;
    auto x = multiple_of(graph, graph.node(id).inputs()[0], [](const ScaledValue& s) { return is_about(s.by, kHalfRoot); });
    auto sum = sum_with_one(graph, id);
    if (!x || !sum) continue;
    auto y = completed_product(graph, *sum, x->of);
    if (!y || graph.node(*y).outputs[0] != *graph.type(x->of.source)) continue;
    if (!context.rewrites.allow(kFuseGelu.name, graph.node(*y))) continue;
    graph::GraphEditor editor(graph, *y);
    ops::Builder b(editor);
    ValueRef gelu = b.gelu(x->of);
    BUDA_TRY(b.status());
    take_over_marks(graph, gelu.node, id);
    editor.replace(*y, gelu);
    ++report.rewrites;
  }
  return report;
}

}  // namespace

const Pass kFuseGelu = {.name = "fuse-gelu",
                        .summary = "replace the formula of gelu with the error function by gelu",
                        .level = graph::Level::tensor,
                        .run = fuse_gelu};

}  // namespace buda::passes
