// MLIR text: a module with functions, in the generic form of any operation or the short form of those of StableHLO and CHLO.
#pragma once

#include "module.hpp"

namespace buda::stablehlo {

Result<Module> read_text(const std::string& path, std::string_view text);

}  // namespace buda::stablehlo
