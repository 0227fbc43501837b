// SPDX-License-Identifier: Apache-2.0
// A run as values: its report, and the epochs to show.
#pragma once

#include "apps/perf-analyzer/options.hpp"

#include <buda/perf/summary_file.hpp>

#include <vector>

namespace buda::perf_analyzer {

struct Run {
  perf::SummaryFile report;
  std::vector<perf::EpochSummary> epochs;  // the report's, or a part for each graph of one (--spatial-epochs)
};

// Reads the folder or the file of --load. AN001: the netlist lacks something of the report; AN002: the graphs of an epoch cannot be told
// apart without a netlist.
Result<Run> load(const Options& options, Host& host);

}  // namespace buda::perf_analyzer
