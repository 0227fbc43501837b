// SPDX-License-Identifier: Apache-2.0
// Text of unknown origin, made fit for a terminal and a log.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace buda {

enum class Lines : std::uint8_t {
  one,   // line ends are quoted and tabs become spaces, so that columns stay what they are
  kept,  // line ends and tabs stay: of a listing
};

// `text` with what would steer a terminal, or show other text than there is, as escapes: control characters as \x1b, those of Unicode
// (C1, marks of direction, separators of lines) as \u{9b}. Where it is not valid UTF-8, bytes beyond ASCII are escaped too.
std::string printable(std::string_view text, Lines lines = Lines::one);

// Whether printable() would leave all but line ends and tabs as they are.
bool is_printable(std::string_view text);

}  // namespace buda
