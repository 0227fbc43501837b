// SPDX-License-Identifier: Apache-2.0
// The work of pipegen.
#pragma once

#include "apps/pipegen/options.hpp"

namespace buda::pipegen {

// `options.products` become the files that were written.
Result<void> run(Options& options, Host& host);

}  // namespace buda::pipegen
