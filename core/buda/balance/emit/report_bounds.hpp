// SPDX-License-Identifier: Apache-2.0
// What the report tells of a plan beside others: how far it is from the best that there could be, and why its epochs end where they do.
#pragma once

#include <buda/balance/emit/report.hpp>
#include <buda/balance/policy/choice_space.hpp>
#include <buda/balance/queues/queues.hpp>

namespace buda::balance {

// Fills in bounds and gaps of the whole and of epochs, and what ended these.
void add_bounds(const ChoiceSpace& space, const Choice& choice, const QueueOptions& queues, PlacementReport& report);

// What an estimate says of changes of epochs: each is waited for, or what epochs hide of each other's is not.
enum class EpochChanges { waited_for, hidden };

// Cycles of all inputs of a microbatch, below which no such estimate of a plan in the order of the schedule is, on all chips of the problem
// together.
double lower_bound_of(const ChoiceSpace& space, const QueueOptions& queues, EpochChanges changes);

// By how many percent, with three digits.
double gap_above(double cycles, double bound);

}  // namespace buda::balance
