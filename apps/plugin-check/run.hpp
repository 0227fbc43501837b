// SPDX-License-Identifier: Apache-2.0
// The work of plugin-check.
#pragma once

#include "apps/plugin-check/options.hpp"

#include <buda/diag/result.hpp>

namespace buda::plugin_check {

// A failure for each check that fails (PK001), with Fault::mismatch.
Result<void> run(const Options& options, cli::ToolHost& host);

}  // namespace buda::plugin_check
