// SPDX-License-Identifier: Apache-2.0
// The clock of the device is set to the host's with each program that starts.
#include "apps/runner/timeline.hpp"

#include <buda/perf/trace_events.hpp>

#include <utility>

namespace buda::runner {
namespace {

// Above all numbers of processes that Linux gives.
constexpr std::int64_t kDeviceProcess = std::int64_t{1} << 22;

io::Node arguments_of(const runtime::TimedCall& call) {
  const bool of_program = call.name == "start" || call.name == "advance";
  io::Node out = io::Node::map({{call.name == "open" ? "device" : of_program ? "program" : "queue", io::Node::string(call.what)}});
  if (call.entries > 0) out.add("entries", io::Node::integer(call.entries));
  return out;
}

}  // namespace

void add_to_timeline(cli::Timeline& timeline, const std::vector<runtime::TimedCall>& calls, const std::optional<perf::Summary>& summary,
                     const perf::Recording& recording) {
  using cli::Timeline;
  std::vector<perf::Anchor> anchors;
  for (const runtime::TimedCall& call : calls) {
    const double begin = Timeline::microseconds(call.begin);
    timeline.add("calls of the device", call.name, begin, Timeline::microseconds(call.end), arguments_of(call));
    if (call.name == "start") anchors.push_back({call.device_time, begin});
  }
  if (summary) timeline.append(perf::trace_events(*summary, recording, perf::spaced(std::move(anchors), summary->clock), kDeviceProcess));
}

}  // namespace buda::runner
