// SPDX-License-Identifier: Apache-2.0
// What an open image is doing.
#pragma once

#include <buda/perf/time.hpp>
#include <buda/runtime/target.hpp>

#include <cstddef>
#include <string>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::runtime {

struct BackendStatus {
  State state = State::idle;  // running: it computes; needs_host: it stands still until the host has done one of `waits`
  std::string program;        // at work; empty when idle
  std::size_t queued = 0;     // programs that follow it
  perf::SimTime now;          // of devices that simulate time
  std::vector<Wait> waits;
};

}  // namespace buda::runtime

#pragma GCC visibility pop
