// SPDX-License-Identifier: Apache-2.0
// The rules of plugin `compare` that have a file of their own.
#pragma once

#include <buda/plugin/rule.hpp>

#include <vector>

namespace buda::compare {

std::vector<plugin::RuleSpec> whole_number_rules();    // whole_numbers.cpp

}  // namespace buda::compare
