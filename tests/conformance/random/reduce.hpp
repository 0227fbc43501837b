// SPDX-License-Identifier: Apache-2.0
// Smaller recipes that still fail.
#pragma once

#include "recipe.hpp"

#include <functional>

namespace buda::trial {

// One output where one is enough, ops in front of it replaced by inputs with their values, and special numbers by 1, as long as `fails`.
Recipe reduced(const Recipe& recipe, const std::function<bool(const Recipe&)>& fails);

}  // namespace buda::trial
