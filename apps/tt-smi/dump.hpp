// SPDX-License-Identifier: Apache-2.0
// The table of telemetry over time, with the columns of TT-SMI's guide.
#pragma once

#include "apps/tt-smi/seen.hpp"

#include <buda/diag/result.hpp>
#include <buda/io/host.hpp>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace buda::tt_smi {

// The table of a chip: of each reading the values of dump_columns(), none where a simulated chip has none.
struct Sheet {
  std::string name;  // "n150-chip-0"
  std::vector<std::vector<std::optional<double>>> rows;
};

const std::vector<std::string>& dump_columns();

// Adds a reading to the sheets, one for each chip; chips that come later get theirs then.
void add_reading(std::vector<Sheet>& sheets, double seconds, const Seen& seen);

std::string csv_text(const Sheet& sheet);

// Writes a spreadsheet with these columns and sheets into a file.
using WriteWorkbook =
    std::function<Result<void>(const std::vector<std::string>& columns, const std::vector<Sheet>& sheets, const std::string& path)>;

// A CSV file for each chip and tt-smi-dump.xlsx. `temporary`: the system's folder for temporary files.
Result<void> write_dump(const std::vector<Sheet>& sheets, const std::string& folder, const WriteWorkbook& workbook,
                        const std::string& temporary, Host& host);

}  // namespace buda::tt_smi
