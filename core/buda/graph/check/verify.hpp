// SPDX-License-Identifier: Apache-2.0
// Is this graph well formed? Everything that does not need the meaning of ops; ops/whole_graph/infer.hpp adds that.
#pragma once

#include <buda/diag/diagnostic.hpp>
#include <buda/graph/fwd.hpp>

#include <vector>

namespace buda::graph {

// Graphs written by hand may leave the types of ops to be inferred.
enum class OpTypes { required, optional };

// All findings, node by node in topological order, each with the node's name and place. Empty for a sound graph. Checked: names (not
// empty, UTF-8), dangling edges and ports that do not exist, cycles, the number of inputs and results of sources and outputs, missing or
// ill-fitting values of parameters and constants, shapes (at most kMaxAxes axes, a volume that fits in 63 bits, whole tiles at device
// level), TMs that do not apply or stand at tensor level, and that there is an output.
std::vector<Diagnostic> verify(const Graph& graph, OpTypes op_types = OpTypes::required);

inline constexpr std::size_t kMaxAxes = 32;

}  // namespace buda::graph
