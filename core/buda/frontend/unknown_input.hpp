// SPDX-License-Identifier: Apache-2.0
// What the user gave for an input that the model does not have.
#pragma once

#include <buda/diag/diagnostic.hpp>

#include <set>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)

namespace buda::frontend {

// "--value mask: the model has no input 'mask'", with the name that may have been meant, or all of `known`. `what` the name is of: an input
// or a dimension; `given` is the option as it was typed. For a usage error of this code in this file.
Diagnostic unknown_input(std::string_view code, SourceLoc file, std::string_view given, std::string_view what, const std::string& name,
                         const std::set<std::string>& known);

}  // namespace buda::frontend

#pragma GCC visibility pop
