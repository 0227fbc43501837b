// SPDX-License-Identifier: Apache-2.0
// The fewest steps after which a condition holds that only trials tell.
#pragma once

#include <buda/diag/result.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace buda::compiler {

enum class TrialVerdict : std::uint8_t { holds, too_little, no_fit };

// Which of the steps are taken.
using Taken = std::vector<std::size_t>;

// Steps are taken in order, but for those whose trial does not fit the device, and later ones of the same group. `first`: how many are
// taken in the first trial. At most `most_trials` trials are made; the result is the smallest set found that holds. Nothing: none does.
Result<std::optional<Taken>> fewest_steps(const std::vector<std::size_t>& groups, std::size_t first, std::size_t most_trials,
                                          const std::function<Result<TrialVerdict>(const Taken&)>& attempt);

}  // namespace buda::compiler
