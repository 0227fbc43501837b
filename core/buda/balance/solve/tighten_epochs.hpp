// Epochs made faster with the cores that they leave idle.
#pragma once

#include <buda/balance/solve/policy.hpp>

#include <cstddef>

namespace buda::balance {

// Places ops [begin, end) of the schedule, each on the fewest cores with which it takes at most `interval` cycles per input, or else as fast
// as it goes; in further epochs where the present one has no room.
Result<void> place_within(PolicyContext& context, std::size_t begin, std::size_t end, double interval);

// The same epochs of the same ops, which are contiguous in the schedule, each placed for a shorter interval if its ops fit the chip then.
// What the context holds is replaced. A failure where an op does not fit beside models that its producers got anew.
Result<Choice> tightened(PolicyContext& context, const Choice& choice);

}  // namespace buda::balance
