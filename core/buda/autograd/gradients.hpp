// SPDX-License-Identifier: Apache-2.0
// Gradients as values of a graph, for models that compute some themselves.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/graph/fwd.hpp>
#include <buda/graph/node_id.hpp>

#include <vector>

#pragma GCC visibility push(default)

namespace buda::autograd {

// Of the sum of all elements of y, by those of the wanted values: one for each, zeros where y does not depend on it. The graph's types must
// be known. AG001 to AG003: differentiate.hpp.
Result<std::vector<graph::ValueRef>> gradients_of(graph::Graph& graph, graph::ValueRef y, const std::vector<graph::ValueRef>& wanted);

}  // namespace buda::autograd

#pragma GCC visibility pop
