// SPDX-License-Identifier: Apache-2.0
// Zones that kernels mark: their names, and the times between their markers.
#pragma once

#include "apps/profiler/device_log.hpp"

#include <buda/diag/result.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace buda::profiler {

struct ZoneName {
  std::uint32_t first = 0, last = 0;  // markers
  std::string name;
};
using ZoneNames = std::vector<ZoneName>;

// profile_zones.csv, beside a device log. PF007: a line of another form.
Result<ZoneNames> parse_zone_names(std::string_view text, const std::string& path);

struct ZoneTime {
  std::size_t run = 0;  // of the RISC
  std::uint64_t begin = 0, end = 0;
};
// All times of a zone on a RISC, in the order of their ends. A zone in a zone of the same name ends before it.
std::vector<ZoneTime> times_of(const ZoneName& zone, const RiscLog& log);

}  // namespace buda::profiler
