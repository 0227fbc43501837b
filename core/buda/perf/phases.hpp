// SPDX-License-Identifier: Apache-2.0
// The phases of a training step in a run: forward, backward, optimizer.
//
// TT-Buda's netlists name graphs by them: "fwd_0_3", "bwd_0_4", "opt_0_5"; ours also "bwd_opt_0_5", where ops of two phases share an epoch.
#pragma once

#include <buda/perf/summary.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace buda::perf {

// "forward", "backward, optimizer"; of several graphs with commas between them all their phases. Empty where the name tells none.
std::string phases_of_graph(std::string_view name);

// The epochs of a training step that have ops of the same phases.
struct PhaseFigures {
  std::string phase;  // as phases_of_graph gives it
  std::int64_t ops = 0, epochs = 0;
  SimTime total;      // of all their executions
  double cycles = 0;  // of one step
};

// In the order in which they begin; empty where no epoch is one of a backward or an optimizer phase. A step is what executes each epoch of
// the optimizer once, or without one that of the backward phase that runs least often.
std::vector<PhaseFigures> phases_of(const std::vector<EpochSummary>& epochs);

}  // namespace buda::perf
