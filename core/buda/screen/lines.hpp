// SPDX-License-Identifier: Apache-2.0
// Parts of lines.
#pragma once

#include <buda/screen/screen.hpp>

#include <cstddef>
#include <string>

namespace buda::screen {

// A line over the whole width.
Line bar(std::string text, std::size_t width);

// Adds the characters [from, from + count) of a line.
void add_part(Line& out, const Line& line, std::size_t from, std::size_t count);

}  // namespace buda::screen
