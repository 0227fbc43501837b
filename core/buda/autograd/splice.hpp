// SPDX-License-Identifier: Apache-2.0
// Putting one graph into another.
#pragma once

#include <buda/graph/graph.hpp>

#include <string_view>
#include <vector>

namespace buda::autograd {

// Copies what the part computes into the graph, under names that begin with the prefix; its inputs are `inputs`, in its order. Gives the
// values of its outputs.
std::vector<graph::ValueRef> splice(graph::Graph& graph, const graph::Graph& part, const std::vector<graph::ValueRef>& inputs,
                                    std::string_view prefix);

}  // namespace buda::autograd
