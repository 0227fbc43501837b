// Makefile rules that say what a product was made from.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace buda::cli {

// "target: a b\n" and an empty rule per dependency, so that make does not stop when one of them is deleted. Names are escaped for make.
std::string depfile_text(const std::string& target, const std::set<std::string>& read);

}  // namespace buda::cli
