// Placement for throughput: each epoch's work is spread over the chip so that its ops take about the same time.
#pragma once

#include <buda/balance/solve/policy.hpp>
#include <buda/diag/result.hpp>

#pragma GCC visibility push(default)

namespace buda::balance {

// Cycles from the end of an epoch to the first input of the next: queue headers and stream programs are loaded.
inline constexpr double kEpochChangeCycles = 50'000;

struct SpreadOptions {
  double inputs_per_epoch = 0;  // over which what an epoch takes once is divided; 0: the problem's microbatch
  // From 2 on all plans of a small problem are tried (try_all.hpp), and as many as the budget allows of a larger one.
  std::int64_t effort = 1;
};

// Cuts the schedule as relaxed_epochs() would, gives every op the fewest cores with which it keeps up with its epoch, and places ops in the
// order of the schedule. Shapes leave gaps between ops, so several shares of the chip are tried, and the placement with the fewest cycles
// for an input is taken. `context` must be empty; it holds the last trial afterwards.
Result<Choice> spread(PolicyContext& context, const SpreadOptions& options);

}  // namespace buda::balance

#pragma GCC visibility pop
