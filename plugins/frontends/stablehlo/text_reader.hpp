// SPDX-License-Identifier: Apache-2.0
// MLIR text: a module with functions, in the generic form of any operation or the short form of those of StableHLO and CHLO.
#pragma once

#include "module.hpp"

#include <buda/io/bytes.hpp>

namespace buda::stablehlo {

// Long constants keep the text's memory (dense.hpp).
Result<Module> read_text(const std::string& path, io::Bytes text);

}  // namespace buda::stablehlo
