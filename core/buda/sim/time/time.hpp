// SPDX-License-Identifier: Apache-2.0
// Time inside the simulator.
#pragma once

#include <buda/perf/time.hpp>

#include <cstdint>
#include <limits>

namespace buda::sim {

// perf::SimTime::ticks: sixteenths of a cycle, from the beginning of the epoch.
using Ticks = std::uint64_t;
inline constexpr Ticks kForever = std::numeric_limits<Ticks>::max();

constexpr Ticks ticks_of(double cycles) {
  return cycles <= 0 ? 0 : static_cast<Ticks>(cycles * static_cast<double>(perf::SimTime::kPerCycle) + 0.5);
}

}  // namespace buda::sim
