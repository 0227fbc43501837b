// SPDX-License-Identifier: Apache-2.0
// A training step in programs as graphs of the host: what runs for each batch, and the optimizer, which runs once for a step.
#pragma once

#include <buda/graph/graph.hpp>

#include <string>
#include <vector>

namespace buda::runtime {

struct PhaseGraphs {
  graph::Graph batch;      // gives the model's outputs, and gradients under the names of the ops that add them up
  graph::Graph optimizer;  // takes their sums, gives the next states
};

// The graph has ops that add up gradients (graph::runs_in_phases), and the optimizer reads of other phases nothing else.
PhaseGraphs phase_graphs(const graph::Graph& graph);

}  // namespace buda::runtime
