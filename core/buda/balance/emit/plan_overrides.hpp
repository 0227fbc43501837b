// SPDX-License-Identifier: Apache-2.0
// A plan as options of the balancer.
#pragma once

#include <buda/balance/policy/choice_space.hpp>
#include <buda/balance/problem/problem.hpp>
#include <buda/balance/problem/schedule.hpp>
#include <buda/diag/result.hpp>

#include <map>
#include <string>

namespace buda::balance {

// Options, and their values as texts, that make the same plan if all others stay as they are: of each op its implementation and its place,
// and whether it begins an epoch; their order; and a policy that gives ops what is left of their implementations in that order. A failure
// (BL054) where that order does not say it all: for several chips, and for policies that go back to earlier epochs.
Result<std::map<std::string, std::string>> plan_overrides(const Problem& problem, const Choice& choice, SchedulePolicy schedule);

}  // namespace buda::balance
