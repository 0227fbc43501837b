// SPDX-License-Identifier: Apache-2.0
// By value, then by the norm of all.
#include <buda/autograd/clip_gradients.hpp>

#include <buda/autograd/term.hpp>
#include <buda/graph/editor.hpp>
#include <buda/graph/graph.hpp>

#include <functional>
#include <utility>

namespace buda::autograd {
namespace {

constexpr double kAboveZero = 1e-6;

Term sum_of_squares(const Term& x) {
  Dims all;
  for (std::size_t i = 0; i < x.shape().rank(); ++i) all.push_back(static_cast<std::int64_t>(i));
  const Term squares = x * x;
  return squares.sum(std::move(all), false);
}

}  // namespace

Result<void> clip_gradients(graph::Graph& graph, graph::NodeId basis, std::vector<graph::ValueRef>& gradients, const Clipping& clipping) {
  graph::GraphEditor editor(graph, basis);
  ops::Builder b(editor);
  const auto replace = [&](const std::function<Term(const Term&)>& by) {
    for (graph::ValueRef& gradient : gradients)
      if (gradient.valid()) gradient = by(Term(b, gradient)).value();
  };
  if (clipping.value > 0) replace([&](const Term& g) { return g.op("clip", {{"min", -clipping.value}, {"max", clipping.value}}); });
  if (clipping.norm > 0) {
    Term squares;
    for (const graph::ValueRef& gradient : gradients) {
      if (!gradient.valid()) continue;
      const Term sum = sum_of_squares(Term(b, gradient));
      squares = squares.valid() ? squares + sum : sum;
    }
    const Term norm = squares.op("sqrt") + kAboveZero;
    const Term factor = (norm.op("reciprocal") * clipping.norm).op("clip", {{"max", 1.0}});
    replace([&](const Term& g) { return g * factor; });
  }
  return b.status();
}

}  // namespace buda::autograd
