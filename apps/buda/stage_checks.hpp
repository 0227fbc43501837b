// SPDX-License-Identifier: Apache-2.0
// Asks stages whether their options are right, before any of them works.
#pragma once

#include "apps/buda/stages.hpp"

#include <buda/diag/result.hpp>

namespace buda::driver {

// Names of devices, policies, formats and clusters, and values of options, that a later stage would refuse after minutes of work. What is
// wrong is told by the stage, which calls options as they were given (ToolHost::given_as); the failure has its exit code.
Result<void> check_stage_options(const Options& options, const cli::ToolHost& host);
// The same for one process.
Result<void> check_options_of(const StageCommand& command, const cli::ToolHost& host);

}  // namespace buda::driver
