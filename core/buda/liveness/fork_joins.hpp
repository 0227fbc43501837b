// SPDX-License-Identifier: Apache-2.0
// Where paths part and meet again among the ops of an epoch. Internal to the module.
#pragma once

#include <buda/liveness/liveness.hpp>
#include <buda/pipes/plan/epochs.hpp>
#include <buda/pipes/plan/netlist_index.hpp>

#include <vector>

namespace buda::liveness {

// For each op with several inputs, and each two of them, the nearest op from which both come; each pair once, in the order of the joins.
// Paths lead from op to op, also through queues of the epoch.
std::vector<ForkJoin> fork_joins(const pipes::NetlistIndex& index, const pipes::Epoch& epoch);

}  // namespace buda::liveness
