// SPDX-License-Identifier: Apache-2.0
// What a placement report says of the phases of a training step.
#pragma once

#include <buda/balance/emit/report.hpp>
#include <buda/balance/queues/queues.hpp>

namespace buda::balance {

// Sets the phases of the report's epochs, and its totals by phase. The epochs have their cycles already.
void add_phases(const Problem& problem, const Choice& choice, const QueueSet& queues, PlacementReport& report);

}  // namespace buda::balance
