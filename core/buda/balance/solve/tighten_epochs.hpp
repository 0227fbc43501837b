// Epochs made faster with the cores that they leave idle, or otherwise than before, with the same ops.
#pragma once

#include <buda/balance/solve/policy.hpp>

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace buda::balance {

// Places ops [begin, end) of the schedule, each with the model that takes at most its number of `cycles` per input (one number for each op)
// and the least of what they share: the chip's cores, and what DRAM moves in so many cycles. Where none is so fast, with the fastest; in
// further epochs where the present one has no room.
Result<void> place_within(PolicyContext& context, std::size_t begin, std::size_t end, std::span<const double> cycles);

// Bytes that an op of this model reads from sources for each input: all of them, but what it loads before the epoch only once.
double source_bytes(const PolicyContext& context, OpId op, const OpModel& model);

// The same epochs of the same ops, which are contiguous in the schedule, each placed for a shorter interval if its ops fit the chip then.
// What the context holds is replaced. A failure where an op does not fit beside models that its producers got anew.
Result<Choice> tightened(PolicyContext& context, const Choice& choice);

// The cycles that an op may take that takes `own` in an epoch whose slowest op takes `interval`.
using Pace = std::function<double(double own, double interval)>;
// The same epochs of the same ops, each placed at another pace if its ops fit the chip then, and otherwise as it was.
Result<Choice> paced(PolicyContext& context, const Choice& choice, const Pace& pace);

// A choice of the epochs of several, which have the same ops: epoch e as choices[from[e]] has it. A failure where epochs do not go
// together.
Result<Choice> joined(PolicyContext& context, const std::vector<const Choice*>& choices, const std::vector<std::size_t>& from);

}  // namespace buda::balance
