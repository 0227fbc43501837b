// SPDX-License-Identifier: Apache-2.0
// What a tool shows on a terminal, and the keys that it gets: the tool knows no terminal, and the terminal not what it shows.
#pragma once

#include <buda/diag/result.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace buda::screen {

struct Size {
  std::size_t rows = 0, columns = 0;
};

enum class Style : std::uint8_t {
  plain,
  title,    // bars at the top and the bottom
  heading,  // names of columns and boxes
  bad,      // red
  limit,    // yellow
};

// Printable ASCII.
struct Span {
  std::string text;
  Style style = Style::plain;
  friend bool operator==(const Span&, const Span&) = default;
};
using Line = std::vector<Span>;

struct Key {
  enum class Kind : std::uint8_t { character, up, down, left, right, page_up, page_down, home, end, enter, backspace, escape };
  Kind kind = Kind::character;
  char character = 0;
};

// What the colours have to stand out from.
enum class Theme : std::uint8_t { on_dark, on_light };

struct Session {
  std::function<std::vector<Line>(Size)> draw;  // at most as many lines and characters as the size has
  std::function<bool(Key, Size)> press;         // false: the user has had enough
  bool color = true;
  Theme theme = Theme::on_dark;
  std::optional<std::chrono::milliseconds> interval;  // after which it is drawn again, although no key was pressed
  std::string elsewhere;                              // how to see the same without a terminal, for the error on one of unknown type
};

struct Screen {
  std::function<bool()> usable;  // whether there is somebody to look at it, and to press keys
  std::function<Result<void>(const Session&)> show;
};

}  // namespace buda::screen
