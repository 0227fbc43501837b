// SPDX-License-Identifier: Apache-2.0
// What can be said of a function before it is imported.
#pragma once

#include "module.hpp"

namespace buda::stablehlo {

using Functions = std::map<std::string, Function, std::less<>>;

// Is every operation that the function can reach read here, and every called function there? All others are reported together.
Result<void> check_function(const Module& module, const Functions& functions, const Function& function);

}  // namespace buda::stablehlo
