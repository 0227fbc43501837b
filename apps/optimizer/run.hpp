// SPDX-License-Identifier: Apache-2.0
// The optimizer's work.
#pragma once

#include "apps/optimizer/options.hpp"

#include <buda/diag/result.hpp>

namespace buda::optimizer {

Result<void> run(const Options& options, cli::ToolHost& host);

}  // namespace buda::optimizer
