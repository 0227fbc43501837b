// SPDX-License-Identifier: Apache-2.0
// How the learning rate changes over the steps of a training.
#pragma once

#include <buda/diag/result.hpp>

#include <cstdint>
#include <string_view>

namespace buda::autograd {

// constant; linear and cosine: from 1 to `to` over all steps, polynomial likewise with the power `power` of what is left; step: times
// `factor` after every `every` steps; exponential: times `factor` after each.
enum class ScheduleKind : std::uint8_t { constant, linear, cosine, polynomial, step, exponential };

struct Schedule {
  ScheduleKind kind = ScheduleKind::constant;
  double to = 0;
  double power = 1;
  double every = 1, factor = 0.1;
  double warmup = 0;  // of any kind: steps in which the rate rises from near 0

  // Of the learning rate in step t of `steps`, from 1.
  double at(std::int64_t t, std::int64_t steps) const;
};

// "cosine:to=0.1,warmup=100". AG010, AG011.
Result<Schedule> parse_schedule(std::string_view text);

}  // namespace buda::autograd
