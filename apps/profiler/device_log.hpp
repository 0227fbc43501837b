// SPDX-License-Identifier: Apache-2.0
// profile_log_device.csv: the times at which the RISCs of cores passed markers.
#pragma once

#include <buda/diag/result.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace buda::profiler {

inline constexpr std::array<std::string_view, 5> kRiscs = {"NCRISC", "BRISC", "TRISC0", "TRISC1", "TRISC2"};

// What firmware marks by itself; other markers are those of kernels.
enum Marker : std::uint32_t { kFirmwareStart = 1, kKernelStart = 2, kKernelEnd = 3, kFirmwareEnd = 4 };

struct Stamp {
  std::uint32_t marker = 0;
  std::uint64_t cycle = 0;
  friend bool operator==(const Stamp&, const Stamp&) = default;
};

// One RISC of a core. A run begins with each marker of the firmware that is not larger than the firmware's marker before.
struct RiscLog {
  std::vector<Stamp> stamps;        // in the order of time
  std::vector<std::size_t> starts;  // of runs, in `stamps`
  std::span<const Stamp> run(std::size_t number) const;
};

struct CoreLog {
  std::uint64_t chip = 0, x = 0, y = 0;
  std::array<RiscLog, kRiscs.size()> riscs;
};

struct DeviceLog {
  double clock_hz = 0;         // 0: the file does not say
  std::vector<CoreLog> cores;  // by chip, then row, then column
};

// Null where the run has no such marker.
const Stamp* find_marker(std::span<const Stamp> run, std::uint32_t marker);

// PF001: a line that is none of such a file; PF002: a time before the one above; PF003: no line at all.
Result<DeviceLog> parse_device_log(std::string_view text, const std::string& path);

}  // namespace buda::profiler
