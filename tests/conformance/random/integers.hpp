// SPDX-License-Identifier: Apache-2.0
// The suite of integers and booleans: which graphs it draws.
#pragma once

#include "recipe.hpp"

#include <cstdint>

namespace buda::trial {

// One to eight ops over integers and booleans of magnitudes up to 2^31. All outputs are integers or booleans.
Recipe integer_recipe(std::uint64_t seed);

// Without outputs of floats, which are compared by other rules.
Recipe of_integers_only(Recipe recipe);

}  // namespace buda::trial
