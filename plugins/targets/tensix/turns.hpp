// SPDX-License-Identifier: Apache-2.0
// Whose turn it is: of those that run side by side, each with its own time, the earliest.
#pragma once

#include "latencies.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace buda::tensix {

template <std::size_t count>
class Turns {
 public:
  // When each can go on; and, where that is never, what it waits for, a bit for each cause.
  Cycle when(std::size_t who) const { return when_[who]; }
  unsigned cause(std::size_t who) const { return causes_[who]; }
  void set(std::size_t who, Cycle when, unsigned cause = 0) {
    when_[who] = when;
    causes_[who] = cause;
  }

  // Of those that are equally early the first in their order. `until`: when another one is next.
  std::size_t earliest(Cycle& until) const {
    std::size_t first = 0;
    until = kNever;
    for (std::size_t who = 1; who < count; ++who) {
      if (when_[who] < when_[first]) {
        until = std::min(until, when_[first]);
        first = who;
      } else {
        until = std::min(until, when_[who]);
      }
    }
    return first;
  }
  unsigned awaited() const {
    unsigned causes = 0;
    for (unsigned c : causes_) causes |= c;
    return causes;
  }

 private:
  std::array<Cycle, count> when_ = {};
  std::array<unsigned, count> causes_ = {};
};

}  // namespace buda::tensix
