// SPDX-License-Identifier: Apache-2.0
// Types of a whole graph: derived from the rules of its ops, or checked against them.
#pragma once

#include <buda/graph/fwd.hpp>
#include <buda/ops/table/registry.hpp>

#include <vector>

#pragma GCC visibility push(default)

namespace buda::ops {

// The types that the rule of the node's op gives for the inputs it has now. `format` stays open: choosing it is not the rule's business.
Result<std::vector<ValueType>> infer_node(const graph::Graph& graph, const graph::Node& node, const Registry& registry = standard_ops());

// Gives types to all nodes that have none, in topological order (a parameter or constant takes its value's). Reports all nodes for which
// that fails, but not those that merely depend on them.
Result<void> infer_types(graph::Graph& graph, const Registry& registry = standard_ops());

// The findings of graph::verify, and then for each op: is it known at this level, are its attributes and inputs right, and do its types
// agree with its rule; at device level, whether the model's shapes fit into the padded ones (device_layout.hpp).
std::vector<Diagnostic> verify(const graph::Graph& graph, const Registry& registry = standard_ops());
// The same as a Result: all findings as one failure.
Result<void> check(const graph::Graph& graph, const Registry& registry = standard_ops());

// Sum over all ops.
double flops(const graph::Graph& graph, const Registry& registry = standard_ops());

}  // namespace buda::ops

#pragma GCC visibility pop
