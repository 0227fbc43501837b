// SPDX-License-Identifier: Apache-2.0
// Placement for throughput: each epoch's work is spread over the chip so that its ops take about the same time.
#pragma once

#include <buda/balance/policy/policy.hpp>
#include <buda/diag/result.hpp>

namespace buda::balance {

struct SpreadOptions {
  double inputs_per_epoch = 0;  // over which what an epoch takes once is divided; 0: the problem's microbatch
};

// Cuts the schedule as relaxed_epochs() would, gives every op the fewest cores with which it keeps up with its epoch, and places ops in the
// order of the schedule. Shapes leave gaps between ops, so several shares of the chip are tried, and the placements with the fewest cycles
// for an input are improved epoch by epoch (search.hpp). Searches that count different things between two ops run beside each other, on as
// many threads as the space allows; the best of what all find, and of what their epochs make together, is taken by the estimate. Effort 0
// takes the best first placement without improving any; 2 and 3 add larger searches, and of small problems all plans that a larger budget
// allows. `empty` has no op placed.
Result<Choice> spread(const Placement& empty, const Estimator& estimator, const SpreadOptions& options);

}  // namespace buda::balance
