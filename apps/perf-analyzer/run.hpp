// SPDX-License-Identifier: Apache-2.0
// The work of perf-analyzer.
#pragma once

#include "apps/perf-analyzer/options.hpp"

namespace buda::perf_analyzer {

Result<void> run(const Options& options, const Screen& screen, cli::ToolHost& host);

}  // namespace buda::perf_analyzer
