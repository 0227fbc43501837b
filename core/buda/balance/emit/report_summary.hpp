// SPDX-License-Identifier: Apache-2.0
// The few facts of a placement that people ask for first.
#pragma once

#include <buda/balance/emit/report.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace buda::balance {

// Lines: ops, epochs and cores; the estimated rate and what limits it; bytes of parameters and of DRAM. The tools print them after `buda
// compile` and at the end of the balancer's table.
std::vector<std::string> report_summary(const PlacementReport& report);

// What limits the epoch with the longest interval, and that interval: "the kernel of op 'fc1' (361 cycles)",
// "DRAM channel 3 in epoch fwd_0_1 (2480 cycles)".
std::string limiter_text(const PlacementReport& report);

// Until the first input has left the last epoch, each epoch being executed once; nothing on several chips, which work at the same time.
std::optional<std::int64_t> latency_cycles(const PlacementReport& report);

// A rate to three digits, which are more than an estimate is worth; 0 for what is not finite.
double three_digits(double rate);

}  // namespace buda::balance
