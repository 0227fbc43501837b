// SPDX-License-Identifier: Apache-2.0
// Products with selection matrices that add up several rows, as average pools are.
#pragma once

#include <buda/graph/graph.hpp>

#include <cstdint>

namespace buda::passes {

// Terms that stay one sum.
inline constexpr std::int64_t kTermsOfSlice = 4;

// Rows of the selection matrix, where that can be split: with one slice of both factors, and terms enough to stall; otherwise 0.
std::int64_t terms_of_selection(const graph::Graph& graph, const graph::Node& n);

// A matrix for one slice, a row for each term: the terms dealt out to several slices, which are added up. terms_of_selection() must not
// be 0.
void split_selection(graph::Graph& graph, graph::NodeId id);

}  // namespace buda::passes
