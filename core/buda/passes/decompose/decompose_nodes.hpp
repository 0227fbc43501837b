// SPDX-License-Identifier: Apache-2.0
// Decomposing single nodes, once: for who wants an op as simpler ones, and those as they are.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/graph/fwd.hpp>
#include <buda/graph/node_id.hpp>
#include <buda/io/host.hpp>
#include <buda/passes/decompose/decomposition.hpp>

#include <set>

namespace buda::passes {

// Replaces those of the nodes that a rule matches; what takes their place stays. The graph is at tensor level and its types are known.
Result<void> decompose_nodes(graph::Graph& graph, const std::set<graph::NodeId>& nodes, const DecompositionSet& decompositions, Host& host);

}  // namespace buda::passes
