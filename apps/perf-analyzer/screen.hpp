// What a screen needs to show the report and to follow the keys, without knowing what it shows.
#pragma once

#include <buda/diag/result.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace buda::perf_analyzer {

struct Size {
  std::size_t rows = 0, columns = 0;
};

enum class Style : std::uint8_t { plain, title, heading, bad };

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

struct Session {
  std::function<std::vector<Line>(Size)> draw;  // at most as many lines and characters as the size has
  std::function<bool(Key, Size)> press;         // false: the user has had enough
  bool color = true;
};

struct Screen {
  std::function<bool()> usable;  // whether there is somebody to look at it, and to press keys
  std::function<Result<void>(const Session&)> show;
};

}  // namespace buda::perf_analyzer
