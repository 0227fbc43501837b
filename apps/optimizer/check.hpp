// SPDX-License-Identifier: Apache-2.0
// What is wrong with options, whatever the graph.
#pragma once

#include "apps/optimizer/options.hpp"

#include <buda/diag/result.hpp>

namespace buda::optimizer {

Result<void> check(const Options& options, cli::ToolHost& host);

}  // namespace buda::optimizer
