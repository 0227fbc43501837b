// SPDX-License-Identifier: Apache-2.0
// The rules of plugin `linear` that have a file of their own.
#pragma once

#include <buda/plugin/rule.hpp>

namespace buda::linear {

plugin::RuleSpec determinant_rule();  // determinant.cpp

}  // namespace buda::linear
