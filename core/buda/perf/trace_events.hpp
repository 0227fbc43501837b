// SPDX-License-Identifier: Apache-2.0
// A recording as Chrome's trace events: a process for each chip, a track for each core, and one or several for each stream.
#pragma once

#include <buda/perf/recording.hpp>
#include <buda/perf/summary.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace buda::perf {

// What begins at `time` or later, until the next anchor, stands in the trace as much later than `microseconds`.
struct Anchor {
  SimTime time;
  double microseconds = 0;
};

// Anchors in order of time, moved so far that what one places ends before the next begins: simulated time may pass faster than that of
// the host.
std::vector<Anchor> spaced(std::vector<Anchor> anchors, const Clock& clock);

// JSON objects, each with a comma and a new line behind it. Chip n is process `first_process` + n + 1, programs are process
// `first_process`. Without anchors time 0 stands at 0.
std::string trace_events(const Summary& summary, const Recording& recording, const std::vector<Anchor>& anchors = {},
                         std::int64_t first_process = 0);

}  // namespace buda::perf
