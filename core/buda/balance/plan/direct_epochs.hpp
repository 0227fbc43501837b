// SPDX-License-Identifier: Apache-2.0
// From a choice to its plan. Epochs take from other chips directly, over Ethernet, or from queues.
#pragma once

#include <buda/balance/plan/choose.hpp>
#include <buda/balance/plan/plan.hpp>

namespace buda::balance {

// Epochs take from other chips directly unless such a plan does not fit, or is slower than one with queues. First all do, then, where that
// is not the best, one after the other.
Result<Plan> build_plan_of(const ChosenPlan& chosen, const PlanContext& context);

}  // namespace buda::balance
