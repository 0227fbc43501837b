// SPDX-License-Identifier: Apache-2.0
// Products of two values that are computed: block by block in one op, or in parts that are added up.
#pragma once

#include <buda/graph/graph.hpp>
#include <buda/graph/tags/sum_blocks.hpp>

#include <cstdint>
#include <optional>

namespace buda::passes {

// Matrices of which a product adds up the results along z.
std::int64_t slices_added(const graph::Node& n);

// Blocks within one of the matrices that are added up, of so many tiles each; nothing where those are smaller than blocks have to be.
std::optional<graph::SumBlocks> blocks_of_product(std::int64_t matrices, std::int64_t tiles);

// The product with the tag of its blocks; where none divides its inner dimension tiles of zeros fill it up.
void add_up_in_blocks(graph::Graph& graph, graph::NodeId id);

// A product for each part, and their sum.
void split_product(graph::Graph& graph, graph::NodeId id);

}  // namespace buda::passes
