// SPDX-License-Identifier: Apache-2.0
// Time as a timed target simulates it.
#pragma once

#include <compare>
#include <cstdint>

#pragma GCC visibility push(default)

namespace buda::perf {

// Since the device was opened, in sixteenths of a cycle of the chip's clock: rates that divide no cycle add up without rounding errors, and
// equal inputs give equal times on every machine.
struct SimTime {
  static constexpr std::uint64_t kPerCycle = 16;
  std::uint64_t ticks = 0;

  static constexpr SimTime from_cycles(std::uint64_t cycles) { return {cycles * kPerCycle}; }
  constexpr double cycles() const { return static_cast<double>(ticks) / static_cast<double>(kPerCycle); }
  friend constexpr auto operator<=>(const SimTime&, const SimTime&) = default;
};

struct Clock {
  double hz = 0;  // cycles per second
  constexpr double seconds(SimTime time) const { return time.cycles() / hz; }
};

}  // namespace buda::perf

#pragma GCC visibility pop
