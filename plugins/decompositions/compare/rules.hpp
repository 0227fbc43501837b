// The rules of plugin `compare` that have a file of their own.
#pragma once

#include <buda/plugin/rule.hpp>

#include <vector>

namespace buda::compare {

std::vector<plugin::RuleSpec> whole_number_rules();    // whole_numbers.cpp
std::vector<plugin::RuleSpec> whole_division_rules();  // whole_division.cpp

// An integer as a type of 8 or 16 bits holds it; of wider types as it is.
plugin::Term wrapped_around(const plugin::Term& x, DType type);

}  // namespace buda::compare
