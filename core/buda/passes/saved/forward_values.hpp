// SPDX-License-Identifier: Apache-2.0
// The values of a training step's forward phase, and what its backward phase reads of them. Internal to the passes module.
#pragma once

#include <buda/graph/graph.hpp>
#include <buda/ops/table/registry.hpp>
#include <buda/passes/pipeline/pass.hpp>

#include <cstdint>
#include <vector>

namespace buda::passes {

struct ForwardValue {
  graph::ValueRef value;
  std::vector<std::size_t> operands;  // places of the values from which its op computes it
  std::vector<std::size_t> readers;   // places of values that are computed from it
  std::int64_t bytes = 0;             // of its tiles, in the format that values have unless told otherwise; 0 of what is there anyway
  bool is_there = false;              // an input, state, parameter or constant, which has a queue of its own
  bool may_repeat = false;            // by an op of one result, on the device, that gives the same each time
  bool is_product = false;            // takes many operations for each element: a product or a sum
  bool is_read_backward = false;
};

// Of an op of the backward phase: a tag that it computes a value of the forward phase again.
inline constexpr const char* kRecomputed = "recomputed";

// In topological order.
std::vector<ForwardValue> forward_values(const graph::Graph& graph, const PassContext& context);

// Does the op belong to this phase (graph/tags/training.hpp)?
bool is_backward(const graph::Node& n);

}  // namespace buda::passes
