// SPDX-License-Identifier: Apache-2.0
// Gradients of a training step next to central differences of its loss, in F64 whatever the types of the graph.
#pragma once

#include <buda/autograd/training_step.hpp>
#include <buda/diag/result.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace buda::autograd {

struct CheckedGradient {
  std::string parameter;
  std::string worst;  // "element 12" or "a random direction"
  double gradient = 0, difference = 0;
  double error = 0;  // relative to the largest element of the gradient
  bool agrees = false;
};

// Floating-point types become F64, also where an attribute names them. A step that is made of such a graph has constants in F64, too.
graph::Graph in_f64(graph::Graph graph);

// Inputs and targets are drawn with the seed: numbers from -1 to 1, integers 0 and 1, targets shares that sum to 1 along the last axis. Of
// each parameter its largest element, some others, and a random direction of all are moved. AG031: the graph cannot be computed in F64.
Result<std::vector<CheckedGradient>> check_gradients(const TrainingStep& step, std::uint64_t seed, unsigned threads);

// AG030 for each that does not agree.
Failure wrong_gradients(const std::vector<CheckedGradient>& checked);

}  // namespace buda::autograd
