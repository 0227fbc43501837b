// SPDX-License-Identifier: Apache-2.0
// What would make an epoch faster: options of the balancer, with the time that follows from the causes.
#pragma once

#include <buda/base/grid.hpp>
#include <buda/perf/summary.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace buda::timed {

// Of an epoch with its facts (op_facts.hpp). Only what the largest cause, or idle resources, give a reason for; empty where nothing is
// known that helps. `workers`: of a chip.
std::vector<std::string> advice_for(const perf::EpochSummary& epoch, GridShape workers, std::int32_t chips = 1);

}  // namespace buda::timed
