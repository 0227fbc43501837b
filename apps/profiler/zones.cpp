// SPDX-License-Identifier: Apache-2.0
// A heading, and a line for each name.
#include "apps/profiler/zones.hpp"

#include "apps/profiler/csv.hpp"

#include <buda/base/text.hpp>

#include <limits>

namespace buda::profiler {

Result<ZoneNames> parse_zone_names(std::string_view text, const std::string& path) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
  ZoneNames out;
  std::uint32_t lines = 1;
  for (bool heading = true; !text.empty(); heading = false) {
    const std::uint32_t line = lines;
    const auto fields = take_csv_line(text, lines);
    if (fields && heading) continue;
    const auto first = fields && fields->size() == 3 ? parse_uint((*fields)[0]) : std::nullopt,
               last = first ? parse_uint((*fields)[1]) : std::nullopt;
    if (!last || *first <= kFirmwareEnd || *last <= *first || *last > kMost)
      return input_error("PF007", {path, line, 1}, "is not a line 'first marker,last marker,zone' of two markers above 4");
    out.push_back({static_cast<std::uint32_t>(*first), static_cast<std::uint32_t>(*last), (*fields)[2]});
  }
  return out;
}

std::vector<ZoneTime> times_of(const ZoneName& zone, const RiscLog& log) {
  std::vector<ZoneTime> out;
  for (std::size_t r = 0; r < log.starts.size(); ++r) {
    std::vector<std::uint64_t> open;
    for (const Stamp& stamp : log.run(r)) {
      if (stamp.marker == zone.first) open.push_back(stamp.cycle);
      if (stamp.marker != zone.last || open.empty()) continue;
      out.push_back({r, open.back(), stamp.cycle});
      open.pop_back();
    }
  }
  return out;
}

}  // namespace buda::profiler
