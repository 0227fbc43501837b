// Is this graph well formed? Everything that does not need the meaning of ops; ops/verify.hpp adds that.
#pragma once

#include <buda/graph/graph.hpp>

#include <vector>

namespace buda::graph {

// All findings, in the order of nodes, each with the node's name and place. Empty for a sound graph. Checked: names (not empty, UTF-8),
// dangling edges and ports that do not exist, cycles, sources with inputs, missing or ill-fitting values of parameters and constants,
// types (a volume that fits in 63 bits, one per result), TMs that do not apply or stand at tensor level, shapes that are no whole tiles at
// device level, outputs (exactly one input; at least one output in the graph).
std::vector<Diagnostic> verify(const Graph& graph);

}  // namespace buda::graph
