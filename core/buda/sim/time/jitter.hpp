// SPDX-License-Identifier: Apache-2.0
// Durations that vary: results must not depend on time.
#pragma once

#include <buda/base/rng.hpp>
#include <buda/sim/time/time.hpp>

#include <cstdint>

namespace buda::sim {

class Jitter {
 public:
  // Seed 0: durations stay what they are.
  explicit Jitter(std::uint64_t seed = 0) : rng_(seed), varies_(seed != 0) {}
  // Times a factor of 0.7 to 1.3.
  Ticks of(Ticks duration) {
    constexpr std::uint64_t kLeast = 700, kRange = 601, kWhole = 1000;
    return varies_ ? duration * (kLeast + rng_.below(kRange)) / kWhole + 1 : duration;
  }

 private:
  Rng rng_;
  bool varies_;
};

}  // namespace buda::sim
