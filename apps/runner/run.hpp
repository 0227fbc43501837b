// SPDX-License-Identifier: Apache-2.0
// The runner's work.
#pragma once

#include "apps/runner/options.hpp"

#include <buda/diag/result.hpp>

namespace buda::runner {

Result<void> run(const Options& options, cli::ToolHost& host);

}  // namespace buda::runner
