// SPDX-License-Identifier: Apache-2.0
// What the trainer does.
#pragma once

#include "apps/trainer/options.hpp"

#include <buda/diag/result.hpp>

namespace buda::trainer {

BUDA_EXPORT Result<void> run(const Options& options, cli::ToolHost& host);

}  // namespace buda::trainer
