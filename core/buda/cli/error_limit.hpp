// SPDX-License-Identifier: Apache-2.0
// How many errors of one file a person is shown.
#pragma once

#include <buda/diag/diagnostic.hpp>

#include <cstddef>
#include <vector>

namespace buda::cli {

inline constexpr std::size_t kMaxErrorsOfFile = 50;

// Of each file the first kMaxErrorsOfFile diagnostics, in their order; the last of them has a note that says how many more there are.
std::vector<Diagnostic> first_of_each_file(const std::vector<Diagnostic>& all);

}  // namespace buda::cli
