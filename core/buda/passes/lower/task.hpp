// SPDX-License-Identifier: Apache-2.0
// What is lowered, and for which device: the same for all rules of one lowering.
#pragma once

#include <buda/graph/graph.hpp>
#include <buda/passes/lower/axes.hpp>
#include <buda/passes/pipeline/pass.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace buda::passes {

struct LoweringTask {
  const graph::Graph& from;    // at tensor level
  const PassContext& context;  // device, registry of ops, number of threads
  Batch batch;
  std::vector<char> rows_read;  // by id: whether an op may read the padding below the rows of the node's results (analysis.hpp)
};

// PA020, "cannot be lowered": the node, its op and shapes, `reason`, and as a hint what would help.
Diagnostic cannot_lower(const graph::Graph& from, const graph::Node& n, std::string_view reason, std::string remedy);

// The axes of a shape of the model; a failure when the device cannot hold it, or it has no elements.
Result<Shape> device_axes(const LoweringTask& task, const graph::Node& n, const Shape& model);

}  // namespace buda::passes
