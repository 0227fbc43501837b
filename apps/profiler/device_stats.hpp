// SPDX-License-Identifier: Apache-2.0
// Figures of a device log: device_stats.txt.
#pragma once

#include "apps/profiler/device_log.hpp"
#include "apps/profiler/zones.hpp"

#include <string>
#include <vector>

namespace buda::profiler {

// From the first core that begins to the last that ends, of cores of a chip whose firmware works at the same time.
struct Execution {
  std::uint64_t chip = 0;
  std::uint64_t firmware_begin = 0, firmware_end = 0;
  std::uint64_t kernel_begin = 0, kernel_end = 0;
};
std::vector<Execution> executions_of(const DeviceLog& log);

struct Figures {
  std::size_t count = 0;
  std::uint64_t least = 0, most = 0;
  double sum = 0, average = 0, median = 0;
};
// With one decimal, unless it is an integer.
std::string figure_text(double value);
Figures figures_of(std::vector<std::uint64_t> durations);

struct Analysis {
  std::string what;
  Figures cycles;
};
// Firmware and kernels of whole executions, one of each per execution, and the kernels and zones of each RISC on all cores.
std::vector<Analysis> analyses_of(const DeviceLog& log, const ZoneNames& zones = {});
// The kernels and zones of each RISC of the core.
std::vector<Analysis> analyses_of(const CoreLog& core, const ZoneNames& zones = {});

// `all`: analyses of the log.
std::string stats_text(const DeviceLog& log, const ZoneNames& zones, const std::vector<Analysis>& all);

// device_rearranged_timestamps.csv: a row for each core, with all of its times: "NCRISC 1 run 0", …; of a marker that a kernel sets again
// in the run, "TRISC1 5 run 0 time 2".
std::string timestamps_csv(const DeviceLog& log);

}  // namespace buda::profiler
