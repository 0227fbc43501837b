// SPDX-License-Identifier: Apache-2.0
// The suite of special values: which graphs of floats it draws, and what of them has to be IEEE's.
#pragma once

#include "recipe.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace buda::trial {

// One to six ops over floats, among which are NaN, infinities, -0, denormals, the largest and the smallest numbers. All finite numbers but
// the largest ones and denormals are of so few bits that the formats of a chip hold them.
Recipe special_recipe(std::uint64_t seed);

// Whether the results of this op have to be those of IEEE 754 whatever its operands are.
bool is_selection(const std::string& op);
// By step: all of its operands are sources or results of selections, and it is one.
std::vector<bool> selections_only(const Recipe& recipe);

// "nan", "+inf", "-inf", "finite".
const char* class_name(float value);

// The kinds of special numbers among the inputs and constants of a recipe: "nan inf -inf -0 denormal largest".
std::vector<std::string> specials_in(const Recipe& recipe);
// The same recipe with 1 in the place of these numbers, and the results that follow.
Result<Recipe> without_special(Recipe recipe, const std::string& kind);

}  // namespace buda::trial
