// SPDX-License-Identifier: Apache-2.0
// Placing the ops of a choice once more, as they stood: for searches that change a part of it, and reports that ask why an epoch ends.
#pragma once

#include <buda/balance/policy/placement.hpp>
#include <buda/diag/result.hpp>

#include <cstddef>
#include <functional>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::balance {

// Where the epochs of a choice begin in the schedule, and its end.
std::vector<std::size_t> bounds_of(const Placement& placement, const Choice& choice);

// Takes back the ops of an epoch from `begin` on, to place them anew.
void begin_again(Placement& placement, std::size_t begin);

// Whether ops [begin, end) stand as a choice has them; otherwise they are taken back.
bool stand_as_in(Placement& placement, std::size_t begin, std::size_t end, const Choice& choice);
// The same for ops from `begin` on, as they stood in an epoch that is alike.
bool stand_as(Placement& placement, std::size_t begin, const std::vector<PlacedOp>& ops);

// Places the ops of a choice again, epoch by epoch, and visits each epoch; it ends before number `end` of the schedule.
Result<void> for_each_epoch(Placement& placement, const Choice& choice, const std::function<void(std::size_t end)>& visit);

}  // namespace buda::balance

#pragma GCC visibility pop
