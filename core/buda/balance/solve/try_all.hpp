// All plans of a small problem.
#pragma once

#include <buda/balance/solve/link_loads.hpp>
#include <buda/balance/solve/policy.hpp>

#include <cstddef>
#include <optional>

namespace buda::balance {

// How much may be tried: ops placed, and choices estimated. Counts, not seconds: the same input gives the same plan.
struct TryAllBudget {
  std::size_t placements = 400'000, estimates = 600;
};

// The choice of the fewest cycles of all inputs, by the context's estimate; nothing if none has fewer than `least`. All cuts of the
// schedule are tried with all models of every op, each in the first free place, and in others where the estimate is above what ops and the
// buffers between them take; what cannot be better is left out. Within the budget, that is the best plan with its ops in the order of the
// schedule. What the context holds is replaced; it must have an estimate.
std::optional<Choice> best_of_all(PolicyContext& context, LinkModel& links, double least, const TryAllBudget& budget);

}  // namespace buda::balance
