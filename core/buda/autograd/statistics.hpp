// SPDX-License-Identifier: Apache-2.0
// Means and variances that a normalisation in training mode has stored: a step moves them towards those of its batches
// (frontend/training_mode.hpp).
#pragma once

#include <buda/autograd/step_states.hpp>
#include <buda/diag/result.hpp>
#include <buda/graph/graph.hpp>

#include <map>
#include <string>
#include <vector>

namespace buda::autograd {

struct BatchStatistic {
  graph::NodeId output = {};  // what the batch has
  double part = 0;            // of it in the next stored one
};

// By the name of the parameter that is moved.
using Statistics = std::map<std::string, std::vector<BatchStatistic>>;

// AG012: an output whose tag does not say which parameter is moved.
Result<Statistics> find_statistics(const graph::Graph& graph);
bool is_of_statistic(const graph::Node& output);

// The outputs go, and the parameters become states. A step of several batches (`accumulates`) takes the mean of theirs once.
Result<void> move_statistics(StepStates& states, const Statistics& statistics, bool accumulates);

}  // namespace buda::autograd
