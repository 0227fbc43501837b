// SPDX-License-Identifier: Apache-2.0
// A random graph as a list of steps with the values that the reference evaluation gives them.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/graph/attribute.hpp>
#include <buda/graph/graph.hpp>
#include <buda/tensor/named_tensors.hpp>
#include <buda/tensor/tensor.hpp>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace buda::trial {

// One result of a step.
struct Port {
  std::size_t step = 0;
  std::size_t number = 0;
  friend auto operator<=>(const Port&, const Port&) = default;
};

// What an input promises about its integers: the tag value_range, both ends inclusive.
struct Promise {
  std::int64_t least = 0;
  std::int64_t most = 0;
};

enum class StepKind : std::uint8_t { input, constant, op };

struct Step {
  StepKind kind = StepKind::op;
  std::string op;            // of an op: its name in the registry
  std::vector<Port> inputs;  // of earlier steps
  graph::AttrMap attrs;
  std::vector<Tensor> results;  // of the reference; of an input what is pushed
  std::optional<Promise> promise;
};

struct Recipe {
  std::vector<Step> steps;    // producers before consumers
  std::vector<Port> outputs;  // in rising order

  const Tensor& value(Port port) const { return steps[port.step].results[port.number]; }
  std::size_t ops() const;
};

// "s3": the name of a step's node, and "s3.1": that of the output that gives one of its results.
std::string node_name(std::size_t step);
std::string output_name(Port port);

// The graph; each op is its own origin, by which it is found again after compilation. Only steps that outputs depend on are in it.
Result<graph::Graph> graph_of(const Recipe& recipe);
NamedTensors inputs_of(const Recipe& recipe);
NamedTensors expected_of(const Recipe& recipe);

// The results of one op, by the reference evaluation.
Result<std::vector<Tensor>> evaluate_step(const std::string& op, const std::vector<Tensor>& inputs, const graph::AttrMap& attrs);
// The same recipe with the results that follow from its inputs and constants.
Result<Recipe> evaluated(Recipe recipe);

// Results that no step reads.
std::vector<Port> unread(const Recipe& recipe);
// Without the steps that no output depends on.
Recipe without_idle_steps(const Recipe& recipe);

// The file of a graph with one node per line, and its inputs as values, for people who look at a failure.
std::string text_of(const Recipe& recipe);

}  // namespace buda::trial
