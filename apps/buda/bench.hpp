// `buda bench`: compiles a model, runs it on random inputs in simulated time, and tells what both say.
#pragma once

#include "apps/buda/options.hpp"

#include <buda/diag/result.hpp>

namespace buda::driver {

Result<void> bench_model(const Options& options, cli::ToolHost& host);

}  // namespace buda::driver
