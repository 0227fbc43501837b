// SPDX-License-Identifier: Apache-2.0
// From a graph at tensor level to one at device level (lower_to_device.cpp explains how).
#pragma once

#include <buda/graph/graph.hpp>
#include <buda/passes/pipeline/pass.hpp>

#include <optional>
#include <vector>

namespace buda::passes {

// The device graph, with the batch apart if that is possible and joined otherwise; or one diagnostic (PA020) per node that cannot be
// lowered, without those that depend on it.
Result<graph::Graph> lower(const graph::Graph& graph, const PassContext& context);

// A node that cannot be lowered: an op, or an input or output of the model.
struct Refusal {
  graph::NodeId node;
  Diagnostic why;
};

// All nodes that cannot be lowered when the results of such ops come from the host, in topological order; the device graph when there are
// none.
struct Trial {
  std::vector<Refusal> refused;
  std::optional<graph::Graph> lowered;
};
Trial lower_on_trial(const graph::Graph& graph, const PassContext& context);

}  // namespace buda::passes
