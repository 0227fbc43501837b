// SPDX-License-Identifier: Apache-2.0
// The rules of plugin `nn` by file.
#pragma once

#include <buda/plugin/rule.hpp>

#include <vector>

namespace buda::nn {

std::vector<plugin::RuleSpec> activation_rules();     // activations.cpp
std::vector<plugin::RuleSpec> normalization_rules();  // normalizations.cpp

}  // namespace buda::nn
