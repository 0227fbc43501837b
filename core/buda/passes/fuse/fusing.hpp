// SPDX-License-Identifier: Apache-2.0
// What the fusing and folding passes ask of the nodes that they join.
#pragma once

#include <buda/graph/graph.hpp>

namespace buda::passes {

// A node with this tag, whatever its value, is not joined with another one; nor is one of the host.
inline constexpr const char* kDontFuse = "dont_fuse";

bool may_fuse(const graph::Node& n);

// Nobody but `user` uses results of `producer`, and that once.
bool only_feeds(const graph::Graph& graph, const graph::Node& producer, const graph::Node& user);

// A value of this shape is one row, as wide as a value of the other shape: [10] or [1, 10] of [64, 10].
bool is_row_of(const Shape& row, const Shape& of);

// Origins and tags of a node that goes pass to the one that now does its work; tags that are there stay.
void take_over_marks(graph::Graph& graph, graph::NodeId to, graph::NodeId from);

// Of a node's origins those of `producer`, whose work it now does as well, before the others: in the order of computation.
void put_origins_first(graph::Graph& graph, graph::NodeId node, graph::NodeId producer);

}  // namespace buda::passes
