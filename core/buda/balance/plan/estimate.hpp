// SPDX-License-Identifier: Apache-2.0
// The netlist of a choice, and what the report would say of it.
#pragma once

#include <buda/balance/emit/netlist_builder.hpp>
#include <buda/balance/emit/report.hpp>
#include <buda/balance/emit/report_bounds.hpp>
#include <buda/balance/plan/context.hpp>

#include <optional>
#include <vector>

namespace buda::balance {

// The netlist with its streams laid out. In epochs of `direct`, ops take from other chips without queues (make_queues).
Result<BuiltNetlist> build(const Problem& problem, const Choice& choice, const Settings& settings, Host& host,
                           const DirectEpochs& direct = {});

// What the report would say of the epochs of a choice; of one that needs several chips whose ops are not distributed yet, as if its epochs
// were cut into stages by their slowest ops.
Result<PlacementReport> report_of_choice(const Problem& problem, Choice choice, const Settings& settings, Host& host);

// Cycles of each epoch with all inputs of a microbatch; nothing where there is no such netlist.
std::optional<std::vector<double>> estimated_cycles(const Problem& problem, const Choice& choice, EpochChanges changes,
                                                    const Settings& settings, Host& host);

}  // namespace buda::balance
