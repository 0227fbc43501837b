// SPDX-License-Identifier: Apache-2.0
// Division of a large graph into few parts, for a drawing that can still be laid out and read.
#pragma once

#include <buda/graph/parts/repeats.hpp>

#include <cstddef>
#include <vector>

namespace buda::graph {

// Consecutive places of a topological order, divided into parts.
struct OrderParts {
  // Between two parts where values pass: how many, and the first of them (the place of its node, and its port).
  struct Edge {
    std::size_t from = 0, to = 0, values = 0, first_place = 0, first_port = 0;
  };
  std::vector<std::size_t> begins;  // of each part, ascending; the first is 0
  std::vector<Edge> edges;          // ascending
};

// Parts of about equal size, cut where few values pass; a repeat that is at least as large is a part by itself. There are at most
// `max_parts` parts and `max_edges` edges between them. `order` is topological; values of nodes outside of it do not count.
OrderParts parts_of_order(const Graph& graph, const std::vector<NodeId>& order, const std::vector<Repeat>& repeats, std::size_t max_parts,
                          std::size_t max_edges);

}  // namespace buda::graph
