// SPDX-License-Identifier: Apache-2.0
// The graph of a pass, as the page draws it.
#pragma once

#include "apps/reportify/placement_data.hpp"

#include <buda/graph/graph.hpp>

namespace buda::reportify {

// Nodes in topological order: name, op, kind, attributes, types, inputs (place of the producer, port, manipulations), precision, tags,
// origins in the model; with `placement` also where the op is. Of a graph that is too large to be drawn whole, each node has the number of
// its part.
io::Node pass_data(const graph::Graph& graph, const Placement* placement);

}  // namespace buda::reportify
