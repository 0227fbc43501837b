// SPDX-License-Identifier: Apache-2.0
// Whether one epoch deadlocks. Internal to the module.
#pragma once

#include <buda/liveness/network.hpp>
#include <buda/liveness/wait_cycle.hpp>

#include <cstdint>
#include <optional>

namespace buda::liveness {

struct Decision {
  std::size_t kernels = 0, streams = 0;
  std::int64_t inputs = 1;
  std::int64_t ran = 0;     // inputs that were executed
  std::int64_t equals = 0;  // the state after input `ran` is that after this one; 0: it ran to its end
  std::optional<Deadlock> deadlock;
};

Result<Decision> decide(const EpochProgram& program, const EntriesByQueue& entries);

}  // namespace buda::liveness
