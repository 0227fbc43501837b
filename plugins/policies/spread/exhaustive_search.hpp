// SPDX-License-Identifier: Apache-2.0
// All plans of a small problem.
#pragma once

#include <buda/balance/policy/policy.hpp>
#include "rating/link_loads.hpp"

#include <cstdint>
#include <optional>

namespace buda::balance {

// How much may be tried. Counts, not seconds: the same input gives the same plan.
struct TryAllBudget {
  std::int64_t placements = 20'000;       // of ops
  std::int64_t estimated_cores = 40'000;  // cores of all ops of a choice, for each choice that is estimated: as long as that takes
};

// The choice of the fewest cycles of all inputs, by the estimate; nothing if none has fewer than `least`. All cuts of the
// schedule are tried with all models of every op, each in the first free place, and in others where the estimate is above what ops and the
// buffers between them take; what cannot be better is left out. Within the budget, that is the best plan with its ops in the order of the
// schedule. What the placement holds is replaced; choices must have an estimate.
std::optional<Choice> best_of_all(Placement& placement, const Estimator& estimator, LinkModel& links, double least,
                                  const TryAllBudget& budget);

}  // namespace buda::balance
