// SPDX-License-Identifier: Apache-2.0
// Of which sign the numbers of device values are, as far as that can be known when a model is compiled.
//
// The coherence of numbers is |their sum| / the sum of their sizes: 1 where all have one sign, near 0 where both signs are as frequent.
// Weights and constants are looked at. Values follow from those that they are computed of: what lies on one side of zero (exp, squares,
// ReLU, sigmoid) has 1; a product with weights of both signs has theirs, whatever it is multiplied with. Of what nothing is known - inputs
// of the model - the worst is assumed: 1.
//
// Rows and columns may be known better than all numbers together: what the mean of its row was subtracted from adds up to nothing along
// the row, as layer norms have it, and rows that the host gathers from a table are the table's.
#pragma once

#include <buda/graph/graph.hpp>
#include <buda/ops/device/value_range.hpp>
#include <buda/passes/formats/accumulation_error.hpp>

#include <array>
#include <optional>
#include <vector>

namespace buda::passes {

class ValueSigns {
 public:
  // Of these nodes, in topological order (format_facts.hpp). The graph must outlive it, and its nodes keep their inputs.
  ValueSigns(const graph::Graph& graph, const std::vector<graph::NodeId>& order);

  // How a matmul or depthwise product adds up; nothing for other ops, and for products of integers.
  std::optional<SumSteps> sum_of(const graph::Node& n, graph::MathFidelity fidelity) const;

 private:
  // Numbers among which a sum may choose: any, or those of a row or a column.
  enum Lines : std::uint8_t { any, rows, columns };

  ops::ValueRange result_range(const graph::Node& n) const;
  double along(const graph::Edge& edge, Lines lines) const;
  double result_coherence(const graph::Node& n, Lines lines) const;
  double coherence_of_product(const graph::Node& n) const;
  double coherence_of_gathered(const graph::Node& n) const;

  const graph::Graph& graph_;
  std::vector<std::array<double, 3>> coherence_;  // by id and Lines
  std::vector<ops::ValueRange> range_;            // by id
};

}  // namespace buda::passes
