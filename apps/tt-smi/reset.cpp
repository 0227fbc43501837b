// SPDX-License-Identifier: Apache-2.0
// Questions, and what becomes of the file.
#include "apps/tt-smi/reset.hpp"

#include <buda/base/text.hpp>
#include <buda/io/json.hpp>
#include <buda/screen/text.hpp>

#include <algorithm>
#include <utility>

namespace buda::tt_smi {
namespace {

using telemetry::Chip;
using telemetry::Telemetry;

std::string ask(const std::string& question, const Outside& outside, cli::ToolHost& host) {
  static_cast<void>(host.fs().write(std::string(io::kStdStream), question + '\n'));
  return outside.machine.read_line().value_or("");
}

// The run that would lose its device.
Result<void> check_at_rest(const Seen& seen) {
  if (!seen.running) return success();
  Diagnostic d =
      input_error("SI003", {}, cat("process ", seen.devices.front().process, " simulates the device and would go on: ", seen.note));
  d.hint = "end the simulation first";
  return d;
}

Result<std::vector<std::int32_t>> chips_named(const std::string& text, const Telemetry& device) {
  std::vector<std::int32_t> out;
  std::string words = text;
  std::replace(words.begin(), words.end(), ',', ' ');
  for (const auto& word : split(words, ' ')) {
    if (trim(word).empty()) continue;
    const auto id = parse_int(std::string(trim(word)));
    const bool known = id && std::any_of(device.chips.begin(), device.chips.end(), [&](const Chip& c) { return c.id == *id; });
    if (!known) return usage_error("SI004", cat("'", screen::safe_text(word), "' is none of the chips"));
    out.push_back(static_cast<std::int32_t>(*id));
  }
  return out;
}

Result<void> reset(const std::vector<std::int32_t>& ids, const std::string& file, Telemetry device, cli::ToolHost& host) {
  std::string said;
  for (Chip& chip : device.chips) {
    if (std::find(ids.begin(), ids.end(), chip.id) == ids.end()) continue;
    chip.now.reset();
    chip.average.reset();
    chip.dram_bytes = 0;
    said += cat("chip ", chip.id, ": the simulated chip is reset; its readings and counters are gone\n");
  }
  if (ids.size() >= device.chips.size()) {
    Telemetry idle;
    idle.version = device.version;
    idle.device = device.device;
    idle.arch = device.arch;
    idle.clock_hz = device.clock_hz;
    idle.chips = std::move(device.chips);
    device = std::move(idle);
  }
  // Read before, and now replaced: through another file system, since one does not overwrite what it has read.
  BUDA_TRY(io::make_real_file_system()->write(file, io::json_line(schema::write(device)) + '\n'));
  return host.fs().write(std::string(io::kStdStream), said);
}

std::string path_of(const Options& options) { return options.file.empty() ? kUsualFile : options.file; }

Result<void> say_idle(cli::ToolHost& host) {
  return host.fs().write(std::string(io::kStdStream), "no simulation has run: there is no simulated device that could be reset\n");
}

}  // namespace

Result<void> warm_reset(const Options& options, const Outside& outside, const Seen& seen, cli::ToolHost& host) {
  if (!seen.of_run) return say_idle(host);
  BUDA_TRY(check_at_rest(seen));
  const Telemetry& device = seen.devices.front();
  std::string question = "Simulated devices:\n";
  for (const Chip& chip : device.chips) question += cat("  ", chip.id, "  ", screen::safe_text(device.device), " chip ", chip.id, '\n');
  BUDA_ASSIGN(const auto ids, chips_named(ask(question + "Indices of the chips to reset:", outside, host), device));
  return reset(ids, path_of(options), device, host);
}

Result<void> mobo_reset(const Options& options, const Outside& outside, const Seen& seen, cli::ToolHost& host) {
  if (!seen.of_run) return say_idle(host);
  BUDA_TRY(check_at_rest(seen));
  static_cast<void>(ask("Host name of the mobo:", outside, host));
  static_cast<void>(ask("Ethernet port(s) that are connected:", outside, host));
  BUDA_TRY(host.fs().write(std::string(io::kStdStream),
                           "simulated chips are on no mobo: its name and ports are not used, and all chips are reset\n"));
  std::vector<std::int32_t> all;
  for (const Chip& chip : seen.devices.front().chips) all.push_back(chip.id);
  return reset(all, path_of(options), seen.devices.front(), host);
}

}  // namespace buda::tt_smi
