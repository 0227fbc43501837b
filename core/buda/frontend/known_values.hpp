// SPDX-License-Identifier: Apache-2.0
// Which values of a graph depend on constants alone, and what they are.
#pragma once

#include <buda/graph/fwd.hpp>
#include <buda/graph/node_id.hpp>
#include <buda/tensor/fwd.hpp>

#include <cstdint>
#include <string>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::frontend {

// Bytes of the largest value that is computed. Shapes, axes and conditions are small, and a few bytes of a file may ask for any size.
inline constexpr std::int64_t kLargestKnown = 1 << 28;

// Computes values on demand, with the operations' own reference meaning, each node at most once. That is how arithmetic on shapes (Shape,
// Gather, Mul, Concat, Reshape) leaves no trace: nodes are imported as ever, computed where an operator asks for the value, and erased at
// the end where nothing else uses them.
//
// Nodes may be added to the graph between calls, but not changed.
class KnownValues {
 public:
  explicit KnownValues(const graph::Graph& graph);
  KnownValues(KnownValues&&) noexcept;
  KnownValues& operator=(KnownValues&&) noexcept;
  ~KnownValues();

  // Null for a value that depends on an input of the model (or cannot be computed). Costs what computing it costs, once.
  const Tensor* find(graph::ValueRef value);

  // The inputs of the model that a value depends on, in the model's order.
  std::vector<std::string> inputs_behind(graph::ValueRef value) const;

  // Erases the computed nodes that nobody uses any more.
  void erase_unused(graph::Graph& graph) const;

 private:
  enum class State : std::uint8_t { unvisited, open, known, unknown };
  void visit(graph::NodeId id);
  void compute(graph::NodeId id);

  const graph::Graph* graph_;
  std::vector<State> states_;  // by id
  std::vector<std::vector<Tensor>> results_;
};

}  // namespace buda::frontend

#pragma GCC visibility pop
