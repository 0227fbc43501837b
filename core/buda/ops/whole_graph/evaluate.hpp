// SPDX-License-Identifier: Apache-2.0
// The meaning of a graph: what it computes, in fp32, at either level.
#pragma once

#include <buda/graph/fwd.hpp>
#include <buda/ops/table/registry.hpp>
#include <buda/tensor/named_tensors.hpp>

#include <functional>
#include <span>
#include <string>

#pragma GCC visibility push(default)

namespace buda::ops {

struct EvaluateOptions {
  unsigned threads = 1;
  const Registry* registry = nullptr;  // null: standard_ops()
  // Called after each node (sources too) with its results, in topological order. For comparing a graph with another one, or for traces.
  std::function<void(const graph::Node&, std::span<const Tensor>)> observe;
  // Called before that with the results of each op, and may put others of the same type and shape in their place: to see what a disturbance
  // does to everything after it.
  std::function<void(const graph::Node&, std::span<Tensor>)> disturb;
};

// Takes one tensor per model input, by name, with exactly its type and shape; gives one per model output, by name. Only what outputs
// depend on is computed, and a result is freed after its last use. Errors carry the node's name and place.
//
// At device level inputs and outputs are those of the model all the same: `model_shape` of the input or output node says their shape
// (device_layout.hpp), inputs are padded to tiles on the way in and outputs cut on the way out. In between every value is what a chip would
// hold, padding included, computed in fp32.
Result<NamedTensors> evaluate_graph(const graph::Graph& graph, const NamedTensors& inputs, const EvaluateOptions& options = {});

// One node on given inputs (as they leave their producers: the edges' TMs are applied here). For constant folding.
Result<std::vector<Tensor>> evaluate_node(const graph::Node& node, Level level, std::span<const Tensor> inputs,
                                          const EvaluateOptions& options = {});

}  // namespace buda::ops

#pragma GCC visibility pop
