// SPDX-License-Identifier: Apache-2.0
// Queues on edges between ops none of whose implementations go together.
#pragma once

#include <buda/balance/legalize/self_cut.hpp>
#include <buda/balance/models/op_model.hpp>
#include <buda/balance/problem/problem.hpp>

#include <cstddef>
#include <vector>

namespace buda::balance {

// Marks the edges that `cut` says as queued, and tells how many. O(edges * models of the op * models of its producer) measured edges where
// ops do not go together, and O(edges * models of the op) where they do. `models`: by OpId.
std::size_t cut_edges(SelfCut cut, const std::vector<LegalModels>& models, Problem& problem);

}  // namespace buda::balance
