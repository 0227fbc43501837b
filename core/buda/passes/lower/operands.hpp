// SPDX-License-Identifier: Apache-2.0
// What a rule of lowering asks about the node that it lowers: its attributes, and its inputs as the device has them.
#pragma once

#include <buda/ops/table/op.hpp>
#include <buda/passes/lower/values.hpp>

#include <optional>

namespace buda::passes {

class Operands {
 public:
  Operands(const LoweringTask& task, const graph::Node& node, Values& values) : task_(task), node_(node), values_(values) {}

  std::size_t size() const { return node_.inputs().size(); }
  const graph::ValueType& type(std::size_t i) const { return *task_.from.type(source(i)); }
  const graph::ValueType& result_type() const { return node_.outputs[0]; }
  ops::Attrs attrs() const { return {*task_.context.ops->find(graph::Level::tensor, node_.op()), node_.attrs}; }

  // Its device value; known values become parameters and constants of the device graph.
  Result<Lowered> value(std::size_t i) { return values_.of(node_.inputs()[i]); }

  // Its content, where it is known now; null otherwise.
  const Tensor* known(std::size_t i) const;
  // Its only number, where it is known and all its elements are equal.
  std::optional<double> uniform(std::size_t i) const;
  // A known value, replicated through its tile.
  Result<Lowered> known_with_copies(std::size_t i, Copies copies) { return values_.placed(source(i), copies); }

  // Of x - max(x): what the maximum was taken of, when input 0 is x and input 1 that maximum, perhaps reshaped and broadcast.
  const MaximumArgument* maximum_argument() const;

 private:
  graph::ValueRef source(std::size_t i) const { return node_.inputs()[i].source; }

  const LoweringTask& task_;
  const graph::Node& node_;
  Values& values_;
};

}  // namespace buda::passes
