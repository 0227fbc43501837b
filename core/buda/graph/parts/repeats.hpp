// SPDX-License-Identifier: Apache-2.0
// Blocks of a graph that follow one another several times, such as the layers of a transformer.
#pragma once

#include <buda/graph/fwd.hpp>
#include <buda/graph/node_id.hpp>

#include <cstddef>
#include <vector>

namespace buda::graph {

// `times` equal blocks of `length` nodes each; the first begins at place `first` of the order in which they were looked for.
struct Repeat {
  std::size_t first = 0, length = 0, times = 0;
  std::size_t end() const { return first + length * times; }
  friend bool operator==(const Repeat&, const Repeat&) = default;
};

// The repeats in `order`, some or all nodes of the graph in topological order; weights need not be among them. They do not overlap and come
// in ascending order; those that stand for most nodes are preferred. Two nodes are alike if they have the same op, attributes and types,
// and take their inputs from places of the order that are as far apart as the nodes themselves, from the same node, or from weights of the
// same type. O(n * kMaxRepeatLength) for n nodes.
std::vector<Repeat> repeated_blocks(const Graph& graph, const std::vector<NodeId>& order);

// Shorter and longer blocks are not looked for.
inline constexpr std::size_t kMinRepeatLength = 3;
inline constexpr std::size_t kMaxRepeatLength = 2000;

}  // namespace buda::graph
