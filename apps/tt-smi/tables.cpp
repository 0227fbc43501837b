// SPDX-License-Identifier: Apache-2.0
// From telemetry to text. What a simulated chip does not have is "n/a".
#include "apps/tt-smi/tables.hpp"

#include <buda/base/text.hpp>
#include <buda/cli/tool.hpp>
#include <buda/screen/text.hpp>

#include <algorithm>
#include <functional>
#include <utility>

namespace buda::tt_smi {
namespace {

using screen::number_text;
using screen::safe_text;
using screen::Style;
using telemetry::Activity;
using telemetry::Chip;
using telemetry::Telemetry;

constexpr const char* kNone = "n/a";

Cell plain(std::string text) { return {{std::move(text), Style::plain}}; }

Table empty_table(const Seen& seen) {
  Table out;
  for (const Telemetry& t : seen.devices)
    for (const Chip& chip : t.chips) out.chips.push_back(cat(safe_text(t.device), " chip ", chip.id));
  return out;
}

void add(Table& table, const Seen& seen, std::string name, const std::function<Cell(const Telemetry&, const Chip&)>& cell) {
  Table::Row row{std::move(name), {}};
  for (const Telemetry& t : seen.devices)
    for (const Chip& chip : t.chips) row.cells.push_back(cell(t, chip));
  table.rows.push_back(std::move(row));
}

void add_text(Table& table, const Seen& seen, std::string name, const std::function<std::string(const Telemetry&, const Chip&)>& text) {
  add(table, seen, std::move(name), [&](const Telemetry& t, const Chip& chip) { return plain(text(t, chip)); });
}

// How a figure of the activity is shown.
struct Figure {
  const char* name;
  double (*value)(const Activity&);
  double (*limit)(const Chip&);  // null: it has none
  int decimals;
};

constexpr Figure kFigures[] = {
    {"Core Voltage (V)", [](const Activity& a) { return a.readings.core_volts; }, nullptr, 2},
    {"AICLK (MHz)", [](const Activity& a) { return a.readings.aiclk_mhz; }, [](const Chip& c) { return c.limits.aiclk_mhz; }, 0},
    {"ARCCLK (MHz)", [](const Activity& a) { return a.readings.arcclk_mhz; }, nullptr, 0},
    {"AXICLK (MHz)", [](const Activity& a) { return a.readings.axiclk_mhz; }, nullptr, 0},
    {"Core Current (A)", [](const Activity& a) { return a.readings.core_amps; }, [](const Chip& c) { return c.limits.core_amps; }, 1},
    {"Core Power (W)", [](const Activity& a) { return a.readings.core_watts; }, [](const Chip& c) { return c.limits.core_watts; }, 1},
    {"Core Temp (C)", [](const Activity& a) { return a.readings.core_celsius; }, [](const Chip& c) { return c.limits.core_celsius; }, 1},
    {"VREG Temp (C)", [](const Activity& a) { return a.readings.regulator_celsius; },
     [](const Chip& c) { return c.limits.regulator_celsius; }, 1},
    {"Inlet Temp (C)", [](const Activity& a) { return a.readings.inlet_celsius; }, nullptr, 1},
    {"Outlet Temp 1 (C)", nullptr, nullptr, 1},
    {"Outlet Temp 2 (C)", nullptr, nullptr, 1},
    {"Utilisation (%)", [](const Activity& a) { return 100 * a.mean_utilisation(); }, nullptr, 1},
    {"DRAM (GB/s)", [](const Activity& a) { return a.dram_gbs; },
     [](const Chip& c) { return c.dram_channel_gbs * static_cast<double>(c.dram_channels); }, 1},
};

Cell figure_cell(const Figure& figure, const Chip& chip, bool limits, bool averages) {
  if (figure.value == nullptr || !chip.now) return plain(kNone);
  Cell out = plain(number_text(figure.value(*chip.now), figure.decimals));
  if (averages && chip.average) out.push_back({cat(" avg ", number_text(figure.value(*chip.average), figure.decimals)), Style::plain});
  if (limits && figure.limit != nullptr) {
    out.push_back({" / ", Style::plain});
    out.push_back({number_text(figure.limit(chip), figure.decimals), Style::limit});
  }
  return out;
}

// A digit for each core: tenths of the time that it works; '*' for all of it, '.' for none.
std::string row_of_cores(const Chip& chip, std::int32_t row) {
  if (!chip.now || row >= chip.grid.rows) return "";
  std::string out;
  const auto cols = static_cast<std::size_t>(chip.grid.cols);
  for (std::size_t c = 0; c < cols; ++c) {
    const double used = chip.now->utilisation[static_cast<std::size_t>(row) * cols + c];
    const int tenths = static_cast<int>(used * 10);
    out += used <= 0 ? '.' : tenths >= 10 ? '*' : static_cast<char>('0' + tenths);
  }
  return out;
}

std::string bytes_text(double bytes) {
  for (const char* unit : {"B", "kB", "MB", "GB"}) {
    if (bytes < 1000) return cat(number_text(bytes, unit[0] == 'B' ? 0 : 2), ' ', unit);
    bytes /= 1000;
  }
  return cat(number_text(bytes, 2), " TB");
}

std::string harvested_text(const Chip& chip) {
  std::string out;
  for (const std::int32_t row : chip.harvested_rows) out += cat(out.empty() ? "" : ",", row);
  return out.empty() ? "none" : out;
}

}  // namespace

Table device_table(const Seen& seen) {
  Table out = empty_table(seen);
  add_text(out, seen, "Board Type", [](const Telemetry& t, const Chip&) { return safe_text(t.device); });
  add_text(out, seen, "Board ID", [](const Telemetry&, const Chip&) { return "n/a (simulated)"; });
  add_text(out, seen, "Chip", [](const Telemetry& t, const Chip&) { return safe_text(t.arch); });
  add_text(out, seen, "Chip ID", [](const Telemetry&, const Chip& c) { return cat(c.id); });
  add_text(out, seen, "Cores", [](const Telemetry&, const Chip& c) { return cat(c.grid.rows, " x ", c.grid.cols); });
  add_text(out, seen, "Harvested Rows", [](const Telemetry&, const Chip& c) { return harvested_text(c); });
  add_text(out, seen, "DRAM Status", [](const Telemetry&, const Chip& c) {
    return cat(c.dram_channels, " channels, ",
               bytes_text(static_cast<double>(c.dram_channel_bytes) * static_cast<double>(c.dram_channels)));
  });
  add_text(out, seen, "DRAM Speed", [](const Telemetry&, const Chip& c) {
    return cat(number_text(c.dram_channel_gbs * static_cast<double>(c.dram_channels), 1), " GB/s");
  });
  add_text(out, seen, "PCIe Link", [](const Telemetry&, const Chip& c) {
    return c.mmio ? cat(number_text(c.host_gbs, 1), " GB/s (simulated)") : std::string("none: over Ethernet");
  });
  add_text(out, seen, "Ethernet", [](const Telemetry&, const Chip& c) { return cat(c.ethernet_channels, " channels"); });
  return out;
}

Table telemetry_table(const Seen& seen, bool limits, bool averages) {
  Table out = empty_table(seen);
  for (const Figure& figure : kFigures)
    add(out, seen, figure.name, [&](const Telemetry&, const Chip& chip) { return figure_cell(figure, chip, limits, averages); });
  add_text(out, seen, "DRAM moved", [](const Telemetry&, const Chip& c) { return bytes_text(static_cast<double>(c.dram_bytes)); });
  std::int32_t rows = 0;
  for (const Telemetry& t : seen.devices)
    for (const Chip& chip : t.chips)
      if (chip.now) rows = std::max(rows, chip.grid.rows);
  for (std::int32_t row = 0; row < rows; ++row)
    add_text(out, seen, cat("Cores, row ", row), [&](const Telemetry&, const Chip& c) { return row_of_cores(c, row); });
  return out;
}

Table firmware_table(const Seen& seen) {
  Table out = empty_table(seen);
  for (const char* part : {"ARC FW", "Ethernet FW", "M3 FW", "TT-Flash", "Date"})
    add_text(out, seen, part, [](const Telemetry&, const Chip&) { return "n/a (simulated)"; });
  add_text(out, seen, "Simulator", [](const Telemetry& t, const Chip&) { return cat("OpenBuda ", safe_text(t.version)); });
  add_text(out, seen, "Target",
           [](const Telemetry& t, const Chip&) { return t.target.empty() ? std::string(kNone) : safe_text(t.target); });
  return out;
}

std::vector<Fact> host_facts(const HostInfo& host) {
  return {{"OS", safe_text(host.os)},
          {"Distro", safe_text(host.distribution)},
          {"Kernel", safe_text(host.kernel)},
          {"Hostname", safe_text(host.name)},
          {"Platform", safe_text(host.platform)},
          {"CPUs", cat(host.processors)},
          {"Memory", bytes_text(static_cast<double>(host.memory_bytes))},
          {"Driver", "none (simulated)"}};
}

std::vector<Fact> compatibility(const Seen& seen, const HostInfo& host) {
  const bool linux = host.os == "Linux";
  bool same = true, chips = !seen.devices.empty();
  for (const Telemetry& t : seen.devices) {
    same = same && t.version == cli::version_text();
    chips = chips && !t.chips.empty();
  }
  return {{"OS", linux ? "Pass" : "Fail: not Linux", !linux},
          {"Devices", chips ? "Pass" : "Fail: none", !chips},
          {"Version", same ? "Pass" : "Fail: of another", !same},
          {"Simulation", seen.running ? "Pass" : "none is running", !seen.running}};
}

}  // namespace buda::tt_smi
