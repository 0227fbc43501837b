// SPDX-License-Identifier: Apache-2.0
// The balancer's work.
#pragma once

#include "apps/balancer/options.hpp"

#include <buda/diag/result.hpp>

namespace buda::balancer {

// Of options that need no graph.
Result<void> check(const Options& options, cli::ToolHost& host);
Result<void> run(const Options& options, cli::ToolHost& host);

}  // namespace buda::balancer
