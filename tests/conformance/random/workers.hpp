// SPDX-License-Identifier: Apache-2.0
// Many seeds, in several processes: a crash is a verdict about one seed.
#pragma once

#include "verdict.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace buda::trial {

// The verdicts of first…last-1, by seed. `judge` runs in child processes, `jobs` at a time; a seed for which it takes longer than
// `seconds`, or by which its process dies, has a fault that says so. `done` is called in this process after each.
std::vector<Verdict> judged(std::uint64_t first, std::uint64_t last, unsigned jobs, unsigned seconds,
                            const std::function<Verdict(std::uint64_t)>& judge, const std::function<void(const Verdict&)>& done);

}  // namespace buda::trial
