// The work of pipegen.
#pragma once

#include "apps/pipegen/options.hpp"

namespace buda::pipegen {

Result<void> run(const Options& options, Host& host);

}  // namespace buda::pipegen
