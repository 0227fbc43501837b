// SPDX-License-Identifier: Apache-2.0
// Which nodes of a graph a pass looks at.
#pragma once

#include <buda/graph/graph.hpp>

#include <initializer_list>
#include <string_view>
#include <vector>

namespace buda::passes {

// The ops of these types, producers before consumers. Most passes are about few types of ops, of which most graphs have none: those are
// found out without putting the graph in order. O(n), or O((n + e) log n) where there are several.
std::vector<graph::NodeId> ops_of_types(const graph::Graph& graph, std::initializer_list<std::string_view> types);

}  // namespace buda::passes
