// What the report tells of a plan beside others: how far it is from the best that there could be, and why its epochs end where they do.
#pragma once

#include <buda/balance/emit/report.hpp>
#include <buda/balance/policy/policy.hpp>
#include <buda/balance/queues/queues.hpp>

namespace buda::balance {

// Fills in bounds and gaps of the whole and of epochs, and what ended these.
void add_bounds(const ChoiceSpace& space, const Choice& choice, const QueueOptions& queues, PlacementReport& report);

// Cycles of all inputs of a microbatch, below which no estimate of a plan in the order of the schedule is, on all chips of the problem
// together. Estimates of whole plans wait for each change of epochs and for the whole of an input between ops, which loops need not.
double lower_bound_of(const ChoiceSpace& space, const QueueOptions& queues);

// By how many percent, with three digits.
double gap_above(double cycles, double bound);

}  // namespace buda::balance
