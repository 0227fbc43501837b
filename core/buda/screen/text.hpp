// SPDX-License-Identifier: Apache-2.0
// Numbers and names as they are shown: short, and without anything that a terminal would obey.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace buda::screen {

// With so many decimals; numbers of sixteen digits and more as 1.2e+20.
std::string number_text(double value, int decimals = 0);

// Printable ASCII as it is, all other bytes as \xNN.
std::string safe_text(std::string_view text);

// Lines of at most so many characters, broken at blanks where there are some.
std::vector<std::string> wrapped(std::string_view text, std::size_t width);

}  // namespace buda::screen
