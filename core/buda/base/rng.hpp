// SPDX-License-Identifier: Apache-2.0
// A random generator whose sequence is fixed by its seed on every platform, unlike the distributions of <random>.
#pragma once

#include <cstdint>

#pragma GCC visibility push(default)

namespace buda {

// SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014). One 64-bit state, passes BigCrush;
// enough for test data, tie breaking and fuzzing. Not for secrets.
class Rng {
 public:
  static constexpr std::uint64_t kDefaultSeed = 1;

  constexpr explicit Rng(std::uint64_t seed = kDefaultSeed) : state_(seed) {}

  constexpr std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }

  // Uniform in [0, bound); bound > 0. The bias of the multiplication method is below 2^-32 for bounds that fit in 32 bits.
  constexpr std::uint64_t below(std::uint64_t bound) {
    __extension__ typedef unsigned __int128 Wide;
    return static_cast<std::uint64_t>((static_cast<Wide>(next()) * bound) >> 64);
  }

  // Uniform in [0, 1) with 53 random bits.
  constexpr double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
  constexpr double uniform(double lo, double hi) { return lo + (hi - lo) * uniform(); }

 private:
  std::uint64_t state_;
};

}  // namespace buda

#pragma GCC visibility pop
