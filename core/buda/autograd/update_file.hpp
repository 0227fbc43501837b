// SPDX-License-Identifier: Apache-2.0
// An optimizer that is a graph: how one parameter and the states beside it change.
//
//   inputs    `parameter` and `gradient`; states, under any name, which begin with zeros; `rate`, the learning rate with its schedule, and
//             `step`, the number of the step from 1, if it needs them
//   outputs   for `parameter` and each state: NAME.next, its next value, or NAME.change, what is added to it
//
// Its ops serve parameters of all shapes: `parameter`, `gradient` and states take the parameter's, whatever the graph says.
#pragma once

#include <buda/autograd/update.hpp>
#include <buda/diag/result.hpp>
#include <buda/graph/graph.hpp>

#include <string>
#include <vector>

namespace buda::autograd {

// What moves a state, which is an input of the graph: an output that is added to it, or taken away from it where `negative`.
struct FileMove {
  std::string state;
  bool negative = false;
};

struct FileUpdate {
  graph::Graph graph;  // its outputs are the moves, in their order
  std::vector<FileMove> moves;
};

// The graph for a parameter of this type. A next value that is a sum of the state and something is taken as that change: what it adds is
// then not rounded to the digits of the state. AG018: other inputs or outputs, or ops that serve no other shapes.
Result<FileUpdate> update_from_file(const graph::Graph& file, const graph::ValueType& parameter);

inline constexpr const char* kFileParameter = "parameter";
inline constexpr const char* kFileGradient = "gradient";
inline constexpr const char* kFileRate = "rate";
inline constexpr const char* kFileStep = "step";

}  // namespace buda::autograd
