// SPDX-License-Identifier: Apache-2.0
// The suite of borders: integers where the rules for them change.
#pragma once

#include "recipe.hpp"

#include <cstdint>

namespace buda::trial {

// One to three ops over integers whose ranges end at, before or after what an operand, a factor, two digits or a type hold. All outputs
// are integers or booleans.
Recipe border_recipe(std::uint64_t seed);

}  // namespace buda::trial
