// SPDX-License-Identifier: Apache-2.0
// Whether results are those of the compilation that is shown.
#pragma once

#include "apps/reportify/modules.hpp"

namespace buda::reportify {

// RY004: `results`, a file whose netlist has this digest, are of another netlist than the module's. Nothing is told apart where one of them
// is not known.
Result<void> require_current(const Module& module, const std::string& results, const std::string& netlist_digest, io::FileSystem& fs);

}  // namespace buda::reportify
