// SPDX-License-Identifier: Apache-2.0
// Plans how an op writes a queue.
#pragma once

#include <buda/diag/result.hpp>
#include <buda/pipes/plan/epoch_plan.hpp>

namespace buda::pipes {

// Routes from the op that writes the queue into its buffers; none for untilized and gradient outputs. The queue must have a writer. PP001,
// PP015 to PP018, PP020 and PP034 where it cannot be written so.
Result<EdgeRoutes> route_output(const EpochPlan& plan, const QueuePlan& queue);

}  // namespace buda::pipes
