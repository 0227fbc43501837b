// SPDX-License-Identifier: Apache-2.0
// Estimates of the values of a graph, found when they are asked for.
#pragma once

#include <buda/graph/graph.hpp>
#include <buda/passes/precision/estimate.hpp>

#include <optional>
#include <vector>

namespace buda::passes {

// Inputs of integers lie where their types say, or the tag value_range; an input of floats is assumed to be of normalised numbers, of size
// 1, unless it is multiplied with frequencies: a row of positive numbers of very different sizes, as for positions and time steps. The
// slowest one as a rule turns by about a radian over all of them.
class Estimates {
 public:
  // The graph must outlive this, and its nodes must not change.
  Estimates(const graph::Graph& graph, const Rounding& rounding);

  // Nothing where no rule tells. O(size) for parameters and constants, once.
  std::optional<Estimate> of(graph::ValueRef value);

 private:
  enum class State : std::uint8_t { open, busy, done };

  std::optional<Estimate> compute(const graph::Node& n);
  std::optional<Estimate> of_input(const graph::Node& n) const;
  // How far apart the numbers of an input may be from zero, by the frequencies that they are multiplied with.
  double size_of_positions(const graph::Node& input) const;

  const graph::Graph& graph_;
  Rounding rounding_;
  std::vector<State> state_;                      // by id
  std::vector<std::optional<Estimate>> results_;  // by id: of the first result, others being alike
};

}  // namespace buda::passes
