// SPDX-License-Identifier: Apache-2.0
// Readings become rows, rows become files.
#include "apps/tt-smi/dump.hpp"

#include <buda/base/text.hpp>
#include <buda/io/temporary_directory.hpp>
#include <buda/screen/text.hpp>

#include <algorithm>
#include <cctype>

namespace buda::tt_smi {
namespace {

using telemetry::Chip;
using telemetry::Telemetry;

// Decimals of the columns, as in the guide's table.
constexpr int kDecimals[] = {6, 2, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1};

std::string name_of(const Telemetry& t, const Chip& chip) {
  std::string name = cat(t.device.substr(0, 16), "-chip-", chip.id);
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '-';
  return name;
}

std::vector<std::optional<double>> row_of(double seconds, const Chip& chip) {
  if (!chip.now) return {seconds, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}};
  const telemetry::Readings& r = chip.now->readings;
  return {seconds,      r.core_volts,   r.aiclk_mhz,         r.arcclk_mhz,    r.axiclk_mhz, r.core_amps,
          r.core_watts, r.core_celsius, r.regulator_celsius, r.inlet_celsius, std::nullopt, std::nullopt};
}

}  // namespace

const std::vector<std::string>& dump_columns() {
  static const std::vector<std::string> columns = {
      "Timestamp (s)",           "Core Voltage (V)",       "AICLK (MHz)",         "ARCCLK (MHz)",        "AXICLK (MHz)",
      "Core Current (A)",        "Core Power (W)",         "Core Temp (\u00b0C)", "VREG Temp (\u00b0C)", "Inlet Temp (\u00b0C)",
      "Outlet Temp 1 (\u00b0C)", "Outlet Temp 2 (\u00b0C)"};
  return columns;
}

void add_reading(std::vector<Sheet>& sheets, double seconds, const Seen& seen) {
  for (const Telemetry& t : seen.devices)
    for (const Chip& chip : t.chips) {
      const std::string name = name_of(t, chip);
      auto sheet = std::find_if(sheets.begin(), sheets.end(), [&](const Sheet& s) { return s.name == name; });
      if (sheet == sheets.end()) sheet = sheets.insert(sheets.end(), Sheet{name, {}});
      sheet->rows.push_back(row_of(seconds, chip));
    }
}

std::string csv_text(const Sheet& sheet) {
  std::string out = join(dump_columns(), ",") + '\n';
  for (const auto& row : sheet.rows) {
    for (std::size_t c = 0; c < row.size(); ++c) {
      if (c > 0) out += ',';
      if (row[c]) out += screen::number_text(*row[c], kDecimals[c]);
    }
    out += '\n';
  }
  return out;
}

Result<void> write_dump(const std::vector<Sheet>& sheets, const std::string& folder, const WriteWorkbook& workbook,
                        const std::string& temporary, Host& host) {
  BUDA_TRY(host.fs().make_directories(folder));
  for (const Sheet& sheet : sheets) BUDA_TRY(host.fs().write(cat(folder, '/', sheet.name, ".csv"), csv_text(sheet), host.write_mode));
  BUDA_ASSIGN(const auto scratch, io::TemporaryDirectory::make(temporary, "tt-smi-"));
  const std::string file = scratch.path() + "/dump.xlsx";
  BUDA_TRY(workbook(dump_columns(), sheets, file));
  BUDA_ASSIGN(const io::Bytes bytes, io::make_real_file_system()->read(file));
  return host.fs().write(cat(folder, "/tt-smi-dump.xlsx"), bytes.view(), host.write_mode);
}

}  // namespace buda::tt_smi
