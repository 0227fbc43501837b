// SPDX-License-Identifier: Apache-2.0
// What is known of the integers of a recipe before it runs: intervals that follow from promises, element types and constants.
#pragma once

#include "recipe.hpp"

#include <vector>

namespace buda::trial {

// Both ends inclusive; of floats that nothing is known of, infinite.
struct Interval {
  double least = 0;
  double most = 0;
};

// By step and result. An interval that its integer type does not hold becomes that of the type, since results wrap.
std::vector<std::vector<Interval>> intervals_of(const Recipe& recipe);

// The smallest n of 8, 11, 16, 24, 31, 63 for which the magnitudes of all integers that an op reads and gives are at most 2^n.
int bits_of_step(const Recipe& recipe, const std::vector<std::vector<Interval>>& intervals, std::size_t step);

}  // namespace buda::trial
