// SPDX-License-Identifier: Apache-2.0
// Portable StableHLO files: MLIR's bytecode with operations of VHLO.
#pragma once

#include "module.hpp"

#include <buda/io/bytes.hpp>

namespace buda::stablehlo {

inline constexpr std::string_view kBytecodeMagic = "ML\xEFR";

// Constants share the memory of the file.
Result<Module> read_bytecode(const std::string& path, const io::Bytes& content);

}  // namespace buda::stablehlo
