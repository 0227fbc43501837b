// SPDX-License-Identifier: Apache-2.0
// Ops that have the same legal models, so that what a deep network repeats is enumerated once.
#pragma once

#include <buda/balance/problem/problem.hpp>

#include <cstddef>
#include <vector>

namespace buda::balance {

// By op, the first op of the problem that legal_models() cannot tell from it where nothing of either is overridden: only their names,
// their places in the graph and what their operands are called may differ. Time: the number of ops, times the logarithm of it.
std::vector<std::size_t> first_alike(const Problem& problem);

}  // namespace buda::balance
