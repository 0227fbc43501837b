// Results that lie in few buffers, so that one channel of DRAM would move more than the others, made by more cores.
#pragma once

#include <buda/balance/solve/link_loads.hpp>
#include <buda/balance/solve/policy.hpp>

#include <cstdint>
#include <optional>

namespace buda::balance {

// Which buffers are too large: those that alone hold an epoch up, or all of more than a channel's share of what an epoch moves.
enum class Unevenness : std::uint8_t { holds_up, any };

// The choice with other models for ops with such buffers, be it that their own epoch moves them or one that reads them: where their epoch
// has idle cores, and none becomes slower. Nothing where no op has one. What the context holds is replaced.
std::optional<Choice> with_even_writes(PolicyContext& context, LinkModel& links, Choice choice, Unevenness which);

}  // namespace buda::balance
