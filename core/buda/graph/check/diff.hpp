// SPDX-License-Identifier: Apache-2.0
// What differs between two graphs.
#pragma once

#include <buda/graph/fwd.hpp>

#include <string>
#include <vector>

namespace buda::graph {

// One difference: a line without its newline, beginning with "- " for what only `before` has, "+ " for what only `after` has, and "~ " for
// a node that both have and that is not the same:
//
//   - node 'fc1' (gemm)
//   + node 'fc1.matmul' (matmul)
//   ~ node 'softmax' input 0: 'fc2' -> 'fc2.add'
//
// Nodes are the same by name. Places in files do not count; tensors do, by their bytes. In the topological order of `before`, then of
// `after`. Empty for graphs that mean and say the same. O((n + e) log n), and linear in the bytes of tensors that are not shared.
std::vector<std::string> diff(const Graph& before, const Graph& after);

}  // namespace buda::graph
