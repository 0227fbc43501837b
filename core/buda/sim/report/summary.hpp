// SPDX-License-Identifier: Apache-2.0
// Reads a summary off a machine that has ended. Internal to the module.
#pragma once

#include <buda/perf/summary.hpp>
#include <buda/sim/machine/machine.hpp>

#include <string>

namespace buda::sim {

perf::EpochSummary summary_of(const Machine& m, const std::string& graph);

}  // namespace buda::sim
