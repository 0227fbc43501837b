// SPDX-License-Identifier: Apache-2.0
// What autograd does.
#pragma once

#include "apps/autograd/options.hpp"

#include <buda/diag/result.hpp>

namespace buda::autograd_tool {

// What is wrong with the options, whatever the graph.
BUDA_EXPORT Result<void> check(const Options& options);

BUDA_EXPORT Result<void> run(const Options& options, cli::ToolHost& host);

}  // namespace buda::autograd_tool
