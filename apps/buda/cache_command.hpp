// SPDX-License-Identifier: Apache-2.0
// `buda cache`: what a store holds, and emptying it.
#pragma once

#include "apps/buda/options.hpp"

namespace buda::driver {

cli::ToolSpec cache_command(CacheOptions& options);

}  // namespace buda::driver
