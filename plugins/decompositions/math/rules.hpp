// SPDX-License-Identifier: Apache-2.0
// The rules of plugin `math` by file.
#pragma once

#include <buda/plugin/rule.hpp>

#include <vector>

namespace buda::math {

std::vector<plugin::RuleSpec> power_rules();         // power.cpp
std::vector<plugin::RuleSpec> trigonometry_rules();  // trigonometry.cpp
std::vector<plugin::RuleSpec> rounding_rules();      // rounding.cpp

}  // namespace buda::math
