// SPDX-License-Identifier: Apache-2.0
// What --timeline shows beside the tool's own stages: calls of the device, and what the device did.
#pragma once

#include <buda/cli/timeline.hpp>
#include <buda/perf/recording.hpp>
#include <buda/perf/summary.hpp>
#include <buda/runtime/device/timed_calls.hpp>

#include <optional>
#include <vector>

namespace buda::runner {

// Events of a device with time begin when the program was started that they belong to, and last as long as on the chip.
void add_to_timeline(cli::Timeline& timeline, const std::vector<runtime::TimedCall>& calls, const std::optional<perf::Summary>& summary,
                     const perf::Recording& recording);

}  // namespace buda::runner
