// SPDX-License-Identifier: Apache-2.0
// Advice that has been tried: the balancer places the model again with an override, and says what that gives.
#pragma once

#include "apps/perf-analyzer/load.hpp"

#include <buda/balance/emit/report.hpp>
#include <buda/cli/tool.hpp>

#include <string>
#include <vector>

namespace buda::perf_analyzer {

// An override of an op, "fc1.grid=[2,2]", that may shorten an epoch of the run.
struct Trial {
  std::size_t epoch = 0;
  std::string key, value;
  friend bool operator==(const Trial&, const Trial&) = default;
};

// What may change the limiters of the epochs: those that take most of the time first, and of each the ops of its largest causes. At most
// `most`.
std::vector<Trial> trials_for(const perf::SummaryFile& run, const balance::PlacementReport& plan, GridShape workers, std::size_t most);

// How often as fast a plan is by the estimate, with so many cycles to change from one epoch to the next.
double speedup(const balance::PlacementReport& before, const balance::PlacementReport& after, double change_cycles);

// Replaces the advice of the epochs by overrides of --graph that make the whole plan faster. AN006: the graph is not what ran.
Result<void> try_advice(const Options& options, Run& run, cli::ToolHost& host);

}  // namespace buda::perf_analyzer
