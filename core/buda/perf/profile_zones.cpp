// SPDX-License-Identifier: Apache-2.0
// Zones of kernels in the device log: markers from 5 on, two for each name, and profile_zones.csv, which tells the names.
//
// What a kernel marks is known for one input without waiting. In a run an input takes longer where its kernel waits, and its marks are at
// the same parts of the longer time.
#include <buda/perf/writers.hpp>

#include <buda/base/text.hpp>

#include <algorithm>
#include <cmath>

namespace buda::perf {
namespace {

constexpr std::uint32_t kFirstZoneMarker = 5;

}  // namespace

ZoneMarkers zone_markers(const Summary& summary) {
  ZoneMarkers out;
  for (const EpochSummary& epoch : summary.epochs)
    for (const EpochSummary::Op& op : epoch.ops)
      for (const auto& mark : op.marks) out[mark.zone];
  std::uint32_t next = kFirstZoneMarker;
  for (auto& [zone, marker] : out) {
    marker = next;
    next += 2;
  }
  return out;
}

std::vector<ZoneStamp> zone_stamps(const EpochSummary::Op& op, const CoreRun& core, std::size_t thread, const ZoneMarkers& markers) {
  std::vector<ZoneStamp> out;
  for (const InputRun& input : core.inputs)
    for (const auto& mark : op.marks) {
      if (mark.thread != thread) continue;
      const double length = static_cast<double>(input.end.ticks - input.begin.ticks);
      const auto after = static_cast<std::uint64_t>(std::llround(length * std::clamp(mark.at, 0.0, 1.0)));
      out.push_back({markers.at(mark.zone) + (mark.ends ? 1 : 0), {input.begin.ticks + after}});
    }
  std::stable_sort(out.begin(), out.end(), [](const ZoneStamp& a, const ZoneStamp& b) { return a.time < b.time; });
  return out;
}

std::string profile_zones_csv(const ZoneMarkers& markers) {
  std::string out = csv_line({"first marker", "last marker", "zone"});
  for (const auto& [zone, marker] : markers) out += csv_line({cat(marker), cat(marker + 1), zone});
  return out;
}

}  // namespace buda::perf
