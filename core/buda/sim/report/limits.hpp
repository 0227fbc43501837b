// SPDX-License-Identifier: Apache-2.0
// What an epoch would gain from a faster part of the chip. Internal to the module.
#pragma once

#include <buda/perf/summary.hpp>
#include <buda/sim/machine/machine.hpp>

#include <vector>

namespace buda::sim {

// Of the networks, DRAM, what lies outside of the chip, the loading of programs, the host, and some kernels: the part of the time that
// would be saved if it were twice as fast; largest first.
std::vector<perf::EpochSummary::Limit> limits_of(const Machine& m);

}  // namespace buda::sim
