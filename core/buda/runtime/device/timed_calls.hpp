// SPDX-License-Identifier: Apache-2.0
// When a host called a device, on the host's clock.
#pragma once

#include <buda/perf/time.hpp>
#include <buda/runtime/target.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace buda::runtime {

struct TimedCall {
  using Clock = std::chrono::steady_clock;
  std::string name;          // "push"
  std::string what;          // the queue or the program; of `open` the device
  std::int64_t entries = 0;  // that go over; 0 where none do
  Clock::time_point begin, end;
  // What the device's clock showed before; of devices without a clock 0.
  perf::SimTime device_time;
};

// A target whose devices keep the times of every call. Target and calls outlive it and its devices.
std::unique_ptr<Target> with_timed_calls(Target& target, std::vector<TimedCall>& calls);

}  // namespace buda::runtime
