// SPDX-License-Identifier: Apache-2.0
// What a run tells about its chips while it goes on: format buda.telemetry/1 (docs/formats/telemetry.md), which tt-smi shows.
#pragma once

#include <buda/base/grid.hpp>
#include <buda/diag/result.hpp>
#include <buda/io/host.hpp>
#include <buda/perf/summary_file.hpp>
#include <buda/schema/record.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace buda::telemetry {

// What the sensors of a board measure; here the model of sensors.hpp.
struct Readings {
  double core_volts = 0;
  double aiclk_mhz = 0, arcclk_mhz = 0, axiclk_mhz = 0;
  double core_amps = 0, core_watts = 0;
  double core_celsius = 0, regulator_celsius = 0, inlet_celsius = 0;
  friend bool operator==(const Readings&, const Readings&) = default;
};

// The most that they are expected to be.
struct Limits {
  double aiclk_mhz = 0, core_amps = 0, core_watts = 0, core_celsius = 0, regulator_celsius = 0;
  friend bool operator==(const Limits&, const Limits&) = default;
};

// Activity of a chip over some part of simulated time.
struct Activity {
  std::vector<double> utilisation;  // of each core, row by row: part of the time that its kernel works
  double dram_gbs = 0;              // 1e9 bytes per second
  Readings readings;
  double mean_utilisation() const;
  friend bool operator==(const Activity&, const Activity&) = default;
};

struct Chip {
  std::int32_t id = 0;
  bool mmio = false;  // the host reaches it directly
  GridShape grid;     // of workers
  std::vector<std::int32_t> harvested_rows;
  std::int32_t dram_channels = 0;
  std::uint64_t dram_channel_bytes = 0;
  double dram_channel_gbs = 0;
  double host_gbs = 0;
  std::int32_t ethernet_channels = 0;
  std::uint64_t dram_bytes = 0;     // that the run has moved
  std::optional<Activity> now;      // during the last execution of an epoch; none where the target has no time
  std::optional<Activity> average;  // since the run began
  Limits limits;
  friend bool operator==(const Chip&, const Chip&) = default;
};

enum class State : std::uint8_t {
  idle,     // nothing runs on the device
  running,  // a process simulates it
  ended,    // it did; the figures are its last
};

struct Telemetry {
  State state = State::idle;
  std::int64_t process = 0;  // that simulates; 0: none
  std::string version;       // of the tools
  std::string target;        // "grid"
  std::string model;         // name of its file, without folder
  std::string device, arch;
  double clock_hz = 0;
  perf::SimTime cycles;  // simulated until now
  double seconds = 0;    // that this has taken, of the host's time
  std::string epoch;     // the graphs that have executed last
  std::int64_t executions = 0;
  std::vector<Chip> chips;
  friend bool operator==(const Telemetry&, const Telemetry&) = default;
};

const schema::Record<Readings>& describe(const Readings*);
const schema::Record<Limits>& describe(const Limits*);
const schema::Record<Activity>& describe(const Activity*);
const schema::Record<Chip>& describe(const Chip*);
const schema::EnumNames<State>& describe_enum(const State*);
const schema::Record<Telemetry>& describe(const Telemetry*);

// Reads a file of any origin. TL001: values that no device has.
Result<Telemetry> parse_telemetry(std::string_view text, const std::string& file);

}  // namespace buda::telemetry
