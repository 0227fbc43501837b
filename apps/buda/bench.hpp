// SPDX-License-Identifier: Apache-2.0
// `buda bench`: compiles a model, runs it on random inputs in simulated time, and tells what both say.
#pragma once

#include "apps/buda/options.hpp"

#include <buda/diag/result.hpp>

namespace buda::driver {

// Before the first stage works: what the stages and the runner would refuse.
Result<void> check_bench_options(const Options& options, cli::ToolHost& host);
Result<void> bench_model(const Options& options, cli::ToolHost& host);

}  // namespace buda::driver
