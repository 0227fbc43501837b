// SPDX-License-Identifier: Apache-2.0
// Sums of parts: of slices that lie below one another, and of terms in order.
#pragma once

#include <buda/passes/sums/splitter.hpp>

#include <buda/graph/graph.hpp>

#include <cstdint>

namespace buda::passes {

// Whether a result is small enough to be added up by steps, whose rows have to be put in order first: that takes several times as long.
bool are_few(const Shape& result);

// Of each `group` slices their sum; the last op packs with these attributes.
graph::NodeId sum_of_slices(Splitter& s, const graph::Edge& x, std::int64_t group, const graph::AttrMap& packs);

// What steps of 16 add up: each result's members follow each other. First the rows of the first sum, and so on.
struct InOrder {
  graph::Edge members;
  std::int64_t sums = 1;  // of each batch
  std::int64_t batches = 1;
};

// Of the first and of the last stage.
struct Factors {
  float first = 1, last = 1;
};

// By steps that add up what lies in one group, and round once. The matrix unit rounds halves of a positive sum up twice, of a negative one
// up and down: all stages but the last have negative sums.
graph::NodeId sum_by_steps(Splitter& s, InOrder x, std::int64_t tile_rows, Factors factors, const graph::AttrMap& packs);

}  // namespace buda::passes
