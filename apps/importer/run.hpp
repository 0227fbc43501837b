// SPDX-License-Identifier: Apache-2.0
// The importer's work.
#pragma once

#include "apps/importer/options.hpp"

#include <buda/cli/tool.hpp>
#include <buda/diag/result.hpp>

namespace buda::importer {

// Uses the frontends of host.plugins.
Result<void> run(const Options& options, cli::ToolHost& host);

}  // namespace buda::importer
