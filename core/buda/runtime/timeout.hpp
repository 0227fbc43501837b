// SPDX-License-Identifier: Apache-2.0
// How long calls of the runtime wait.
#pragma once

#include <buda/diag/result.hpp>

#include <chrono>
#include <optional>

#pragma GCC visibility push(default)

namespace buda::runtime {

// Zero asks without waiting. Without a value a call waits as long as the device computes, and kPatience from when it stands still, so that
// nothing hangs.
using Timeout = std::optional<std::chrono::milliseconds>;
inline constexpr std::chrono::milliseconds kPatience{60'000};

// Whether a call failed because its time was up, and may be made again: RT050 to RT052.
bool is_timeout(const Failure& failure);

}  // namespace buda::runtime

#pragma GCC visibility pop
