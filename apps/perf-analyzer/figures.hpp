// SPDX-License-Identifier: Apache-2.0
// What the tables show of epochs and ops, computed from the report.
#pragma once

#include "apps/perf-analyzer/load.hpp"

#include <string>

namespace buda::perf_analyzer {

// Of an epoch in steady state: when its pipeline is full and nothing but its slowest op limits it.
struct EpochFigures {
  double cycles = 0;         // of the slowest op, for one input
  double speed = 0;          // inputs per second
  double util = 0;           // per cent of the time that math units work, mean over all cores of the chips
  double balancer_util = 0;  // the same, if all ops took what the balancer estimates
  double mm_cores = 0;       // cores of ops that multiply matrices
};

EpochFigures figures_of(const Run& run, const perf::EpochSummary& epoch);

// Of the run, as if every epoch were in steady state all the time.
struct RunFigures {
  double speed = 0;  // inputs per second
  double util = 0, balancer_util = 0;
};

RunFigures figures_of(const Run& run);

bool multiplies_matrices(const perf::EpochSummary::Op& op);
// Whether an op that multiplies matrices leaves nearly all of the math units' time unused.
bool has_low_util(const perf::EpochSummary& epoch, const perf::EpochSummary::Op& op);
// Whether the inner dimension goes through the math unit a tile at a time, and sums are kept for each.
bool has_bad_u_kt(const perf::EpochSummary::Op& op);
// Which transfers slow the kernel down most: "input 1 noc", "input 0 dram", "output noc"; empty if they add less than a tenth to its time.
std::string bandwidth_problem(const perf::EpochSummary& epoch, const perf::EpochSummary::Op& op);
// The op's part of the critical path: "kernel 16 %"; empty if it has none.
std::string limit_of(const perf::EpochSummary& epoch, const perf::EpochSummary::Op& op);
// What limits the epoch, with the time that would be saved if it were twice as fast: "networks 24.0 %, DRAM 8.0 %".
std::string limits_text(const perf::EpochSummary& epoch, std::size_t most);
// The options of the report that concern the op, and the others.
std::string advice_of(const perf::EpochSummary& epoch, const perf::EpochSummary::Op& op);
std::vector<std::string> other_advice(const perf::EpochSummary& epoch);

}  // namespace buda::perf_analyzer
