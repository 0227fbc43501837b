// SPDX-License-Identifier: Apache-2.0
// How a step changes one parameter and the states beside it.
#pragma once

#include <buda/autograd/step_states.hpp>
#include <buda/autograd/update.hpp>
#include <buda/diag/result.hpp>
#include <buda/graph/graph.hpp>

namespace buda::autograd {

struct ParameterRule {
  const Optimizer& optimizer;
  const graph::Graph* file = nullptr;  // instead of it, but for its learning rate (update_file.hpp)
};

// The parameter is an input already. AG018: update_file.hpp.
Result<void> update_parameter(StepStates& states, ops::Builder& b, graph::NodeId parameter, graph::ValueRef gradient,
                              const ParameterRule& rule);

}  // namespace buda::autograd
