// SPDX-License-Identifier: Apache-2.0
// Options of the stages that the driver hands on.
#pragma once

#include "apps/buda/options.hpp"

#include <buda/diag/result.hpp>

#include <string>

namespace buda::driver {

// Asks every stage for its options, and declares those that the driver does not have itself. What several stages have goes to all of them.
Result<void> declare_stage_options(cli::OptionSet& set, Options& options, const std::string& bin_dir, const std::string& temporary_dir);

}  // namespace buda::driver
