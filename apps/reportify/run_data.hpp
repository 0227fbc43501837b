// SPDX-License-Identifier: Apache-2.0
// A simulated run, as the page shows it.
#pragma once

#include "apps/reportify/modules.hpp"
#include "apps/reportify/script.hpp"

#include <buda/io/host.hpp>
#include <buda/perf/executions_file.hpp>

namespace buda::reportify {

struct Run {
  perf::SummaryFile summary;
  perf::ExecutionsFile executions;  // none where the run recorded none (--perf-level 0)
};

// IO008, RY004: what is there is no run of this compilation.
Result<Run> read_run(const Module& module, io::FileSystem& fs);

// Figures of the run and its epochs; executions with the bars of their ops, in cycles.
io::Node run_data(const Run& run);

}  // namespace buda::reportify
