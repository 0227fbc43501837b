// SPDX-License-Identifier: Apache-2.0
// What a user may do whose batch is too large for the device.
#pragma once

#include "apps/buda/options.hpp"

#include <buda/cli/tool.hpp>

#include <string>

namespace buda::driver {

// "--dim batch=4 --microbatch 64: ..." for a model that does not fit with a size of --dim: smaller sizes with which it was compiled up to
// its placement, on trial; empty where it does not fit with them, either, or no such size is given.
std::string smaller_batch_hint(const Options& options, cli::ToolHost& host);

}  // namespace buda::driver
