// SPDX-License-Identifier: Apache-2.0
// `buda explain`: what a diagnostic's code means.
#pragma once

#include "apps/buda/options.hpp"

namespace buda::driver {

cli::ToolSpec explain_command(ExplainOptions& options);

}  // namespace buda::driver
