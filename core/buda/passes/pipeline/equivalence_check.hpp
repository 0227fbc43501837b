// SPDX-License-Identifier: Apache-2.0
// Is the graph still equivalent? The graph before and after each pass is evaluated on the same inputs, in fp32, and compared.
//
// A pass may change the order of sums, and so the last bits of a result. Where numbers nearly cancel these bits are all that is left: what
// looks different is evaluated once more with results that are off by a few bits, and is the same if that moves it as far.
#pragma once

#include <buda/graph/fwd.hpp>
#include <buda/io/host.hpp>
#include <buda/ops/table/registry.hpp>
#include <buda/tensor/named_tensors.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace buda::passes {

// Correlation and error are compared apart; one good value does not excuse the other. Values that hardly vary (the sums of a softmax's
// results) have no meaningful correlation, and are compared by their error alone.
struct EquivalenceThresholds {
  double min_correlation = 0.99999;
  double max_error = 1e-4;  // of the largest absolute value of the tensor
};

// One tensor per input of the graph: floating-point ones hold numbers from -2 to 2, integers 0 to 3, or as near to that as the
// range is that the input promises. The same seed and name give the same numbers.
Result<NamedTensors> random_inputs(const graph::Graph& graph, std::uint64_t seed);

class EquivalenceCheck {
 public:
  EquivalenceCheck(Host& host, const ops::Registry& registry, EquivalenceThresholds thresholds = {});
  ~EquivalenceCheck();
  EquivalenceCheck(const EquivalenceCheck&) = delete;
  EquivalenceCheck& operator=(const EquivalenceCheck&) = delete;

  // Evaluates the graph as it is before the first pass, or after one that changed its results, on the given inputs.
  Result<void> start(const graph::Graph& graph, NamedTensors inputs);

  // Compares the graph with what it was before: its outputs with those of the first graph, and the values of all nodes that are still
  // there with their last ones (a node's name stands for its value). A difference is a failure with Fault::mismatch that names the pass,
  // the first node in topological order and, as notes, all outputs that differ.
  Result<void> after(const graph::Graph& graph, std::string_view pass);

 private:
  using Values = std::map<std::string, Tensor, std::less<>>;

  // What a graph computes: the values of its ops, and its outputs.
  struct Run {
    Values values;
    NamedTensors outputs;
  };
  class Rounding;

  Result<Run> evaluate(const graph::Graph& graph, bool disturbed = false) const;
  std::optional<Diagnostic> compare_values(const Tensor& expected, const Tensor& actual, const std::string& what) const;

  Host* host_;
  const ops::Registry* registry_;
  EquivalenceThresholds thresholds_;
  NamedTensors inputs_;
  NamedTensors outputs_;                 // of the first graph
  std::map<std::string, Shape> shapes_;  // of its nodes' values, by name: what of a padded value counts
  Values values_;                        // of the last graph, by node
};

}  // namespace buda::passes
