// Results that lie in few buffers, so that one channel of DRAM would move more than the others, made by more cores.
#pragma once

#include <buda/balance/solve/link_loads.hpp>
#include <buda/balance/solve/policy.hpp>

#include <optional>

namespace buda::balance {

// The choice with other models for ops that write buffers larger than a channel's share of what their epoch moves: where their epoch has
// idle cores, and none becomes slower. Nothing where no op has one. What the context holds is replaced.
std::optional<Choice> with_even_writes(PolicyContext& context, LinkModel& links, Choice choice);

}  // namespace buda::balance
