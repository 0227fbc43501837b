// SPDX-License-Identifier: Apache-2.0
// The fields of the file, and what their values may be.
#include <buda/telemetry/telemetry.hpp>

#include <buda/base/text.hpp>
#include <buda/io/json.hpp>

#include <algorithm>
#include <numeric>

namespace buda::telemetry {

using schema::Record;

double Activity::mean_utilisation() const {
  if (utilisation.empty()) return 0;
  return std::accumulate(utilisation.begin(), utilisation.end(), 0.0) / static_cast<double>(utilisation.size());
}

const schema::EnumNames<State>& describe_enum(const State*) {
  static const schema::EnumNames<State> names = {{State::idle, "idle"}, {State::running, "running"}, {State::ended, "ended"}};
  return names;
}

const Record<Readings>& describe(const Readings*) {
  static const auto record = Record<Readings>("what the sensors of a chip show")
                                 .required("core_volts", &Readings::core_volts, "core voltage")
                                 .required("aiclk_mhz", &Readings::aiclk_mhz, "clock of the cores")
                                 .required("arcclk_mhz", &Readings::arcclk_mhz, "clock of the ARC processor")
                                 .required("axiclk_mhz", &Readings::axiclk_mhz, "clock of the AXI bus")
                                 .required("core_amps", &Readings::core_amps, "core current")
                                 .required("core_watts", &Readings::core_watts, "core power")
                                 .required("core_celsius", &Readings::core_celsius, "temperature of the chip")
                                 .required("regulator_celsius", &Readings::regulator_celsius, "temperature of the voltage regulator")
                                 .required("inlet_celsius", &Readings::inlet_celsius, "temperature of the air that comes in");
  return record;
}

const Record<Limits>& describe(const Limits*) {
  static const auto record = Record<Limits>("the most that readings are expected to be")
                                 .required("aiclk_mhz", &Limits::aiclk_mhz, "clock of the cores")
                                 .required("core_amps", &Limits::core_amps, "core current")
                                 .required("core_watts", &Limits::core_watts, "core power")
                                 .required("core_celsius", &Limits::core_celsius, "temperature of the chip")
                                 .required("regulator_celsius", &Limits::regulator_celsius, "temperature of the voltage regulator");
  return record;
}

const Record<Activity>& describe(const Activity*) {
  static const auto record =
      Record<Activity>("activity of a chip over some part of simulated time")
          .required("utilisation", &Activity::utilisation, "of each core, row by row: part of the time that its kernel works, 0 to 1")
          .required("dram_gbs", &Activity::dram_gbs, "1e9 bytes per second to and from DRAM")
          .required("readings", &Activity::readings, "of the sensors, by the model on the page of this format");
  return record;
}

const Record<Chip>& describe(const Chip*) {
  static const auto record = Record<Chip>("a chip")
                                 .required("id", &Chip::id, "number on the board or in the cluster, from 0")
                                 .optional("mmio", &Chip::mmio, "whether the host reaches it directly")
                                 .required("grid", &Chip::grid, "rows and columns of workers")
                                 .optional("harvested_rows", &Chip::harvested_rows, "rows of the NoC whose workers are switched off")
                                 .required("dram_channels", &Chip::dram_channels, "how many")
                                 .required("dram_channel_bytes", &Chip::dram_channel_bytes, "capacity of each")
                                 .required("dram_channel_gbs", &Chip::dram_channel_gbs, "rate of each, 1e9 bytes per second")
                                 .optional("host_gbs", &Chip::host_gbs, "rate of PCIe, 1e9 bytes per second")
                                 .optional("ethernet_channels", &Chip::ethernet_channels, "how many")
                                 .required("dram_bytes", &Chip::dram_bytes, "that the run has moved to and from DRAM")
                                 .optional("now", &Chip::now, "during the last execution of an epoch; absent where time is not simulated")
                                 .optional("average", &Chip::average, "since the run began; absent likewise")
                                 .required("limits", &Chip::limits, "of the readings");
  return record;
}

const Record<Telemetry>& describe(const Telemetry*) {
  static const auto record = Record<Telemetry>("telemetry of a simulated device", {"buda.telemetry", 1})
                                 .required("state", &Telemetry::state, "idle; running; ended: the figures are the last ones")
                                 .optional("process", &Telemetry::process, "id of the process that simulates the device")
                                 .required("version", &Telemetry::version, "of OpenBuda")
                                 .optional("target", &Telemetry::target, "that executes the model")
                                 .optional("model", &Telemetry::model, "name of its file, without folder")
                                 .required("device", &Telemetry::device, "name of the device descriptor")
                                 .required("arch", &Telemetry::arch, "architecture")
                                 .required("clock_hz", &Telemetry::clock_hz, "cycles per second")
                                 .optional("cycles", &Telemetry::cycles, "simulated until now")
                                 .optional("seconds", &Telemetry::seconds, "of the host's time since the run began")
                                 .optional("epoch", &Telemetry::epoch, "the graphs that have executed last")
                                 .optional("executions", &Telemetry::executions, "of epochs, until now")
                                 .required("chips", &Telemetry::chips, "of the board or the cluster");
  return record;
}

namespace {

constexpr std::int32_t kMaxPerKind = 4096;  // chips, rows, columns, channels
constexpr double kMaxReadingValue = 1e6;

bool is_count(std::int64_t value) { return value >= 0 && value <= kMaxPerKind; }
bool is_reading(double value) { return value >= -kMaxReadingValue && value <= kMaxReadingValue; }

bool are_readings(const Readings& r) {
  const auto all = {r.core_volts, r.aiclk_mhz,    r.arcclk_mhz,        r.axiclk_mhz,   r.core_amps,
                    r.core_watts, r.core_celsius, r.regulator_celsius, r.inlet_celsius};
  return std::all_of(all.begin(), all.end(), is_reading);
}

std::string wrong_activity(const Chip& chip, const Activity& a) {
  if (a.utilisation.size() != static_cast<std::size_t>(chip.grid.rows) * static_cast<std::size_t>(chip.grid.cols))
    return cat("it has ", chip.grid.rows, " x ", chip.grid.cols, " cores, and the utilisation of ", a.utilisation.size());
  if (!std::all_of(a.utilisation.begin(), a.utilisation.end(), [](double u) { return u >= 0 && u <= 1; }))
    return "a core's utilisation is not between 0 and 1";
  if (!is_reading(a.dram_gbs) || !are_readings(a.readings)) return cat("a reading is beyond ", static_cast<std::int64_t>(kMaxReadingValue));
  return "";
}

// Empty where the chip could be.
std::string wrong_chip(const Chip& chip) {
  if (!is_count(chip.id) || !is_count(chip.grid.rows) || !is_count(chip.grid.cols) || !is_count(chip.dram_channels) ||
      !is_count(chip.ethernet_channels))
    return cat("its number, rows, columns or channels are not between 0 and ", kMaxPerKind);
  const Limits& l = chip.limits;
  const auto figures = {chip.dram_channel_gbs, chip.host_gbs, l.aiclk_mhz, l.core_amps, l.core_watts, l.core_celsius, l.regulator_celsius};
  if (!std::all_of(figures.begin(), figures.end(), is_reading))
    return cat("a figure is beyond ", static_cast<std::int64_t>(kMaxReadingValue));
  for (const auto& activity : {chip.now, chip.average})
    if (activity)
      if (auto wrong = wrong_activity(chip, *activity); !wrong.empty()) return wrong;
  return "";
}

}  // namespace

Result<Telemetry> parse_telemetry(std::string_view text, const std::string& file) {
  BUDA_ASSIGN(const io::Node top, io::parse_json(text, file));
  BUDA_ASSIGN(Telemetry out, schema::read<Telemetry>(top));
  if (out.chips.size() > static_cast<std::size_t>(kMaxPerKind))
    return input_error("TL001", {file}, cat("there are ", out.chips.size(), " chips"));
  if (!(out.clock_hz >= 0 && out.clock_hz <= 1e12)) return input_error("TL001", {file}, "the clock is not between 0 and 1e12 Hz");
  if (!(out.seconds >= 0 && out.seconds <= 1e12)) return input_error("TL001", {file}, "the seconds are not between 0 and 1e12");
  for (const Chip& chip : out.chips)
    if (auto wrong = wrong_chip(chip); !wrong.empty()) return input_error("TL001", {file}, cat("chip ", chip.id, ": ", wrong));
  return out;
}

}  // namespace buda::telemetry
