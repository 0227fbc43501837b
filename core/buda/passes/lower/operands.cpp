// SPDX-License-Identifier: Apache-2.0
// Known inputs, and the argument of a maximum that is subtracted.
#include <buda/passes/lower/operands.hpp>

#include <buda/graph/values/value.hpp>
#include <buda/passes/lower/data_movement.hpp>

namespace buda::passes {
namespace {

// The node from which a value comes, seen through ops that do not change its numbers.
graph::NodeId origin_of(const graph::Graph& g, graph::ValueRef v) {
  while (is_reshape(g, g.node(v.node)) || g.node(v.node).op() == "broadcast") v = g.node(v.node).inputs()[0].source;
  return v.node;
}

}  // namespace

const Tensor* Operands::known(std::size_t i) const {
  const KnownValue* known = values_.known().find(source(i));
  return known == nullptr ? nullptr : &known->value->tensor;
}

std::optional<double> Operands::uniform(std::size_t i) const {
  const Tensor* t = known(i);
  if (t == nullptr) return std::nullopt;
  ValueRange range = range_of(*t);
  return range.least == range.most ? std::optional(range.least) : std::nullopt;
}

const MaximumArgument* Operands::maximum_argument() const {
  const MaximumArgument* argument = values_.maximum_argument(source(0));
  return argument != nullptr && origin_of(task_.from, source(1)) == argument->maximum ? argument : nullptr;
}

}  // namespace buda::passes
