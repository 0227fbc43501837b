// SPDX-License-Identifier: Apache-2.0
// Makefile rules that say what a product was made from.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace buda::cli {

// "target: a b\n" and an empty rule per dependency, so that make does not stop when one of them is deleted. Names are escaped for make.
std::string depfile_text(const std::string& target, const std::set<std::string>& read);

// The dependencies in the first rule of such a text; nothing where there is no rule.
std::vector<std::string> dependencies_of(std::string_view depfile);

}  // namespace buda::cli
