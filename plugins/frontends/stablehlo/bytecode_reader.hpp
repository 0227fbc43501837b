// Portable StableHLO files: MLIR's bytecode with operations of VHLO.
#pragma once

#include "module.hpp"

namespace buda::stablehlo {

inline constexpr std::string_view kBytecodeMagic = "ML\xEFR";

Result<Module> read_bytecode(const std::string& path, std::string_view bytes);

}  // namespace buda::stablehlo
