// SPDX-License-Identifier: Apache-2.0
// Spreadsheets, by libxlsxwriter, which only the executable is linked to.
#pragma once

#include "apps/tt-smi/dump.hpp"

namespace buda::tt_smi {

// SI002: the file cannot be written.
Result<void> write_workbook(const std::vector<std::string>& columns, const std::vector<Sheet>& sheets, const std::string& path);

}  // namespace buda::tt_smi
