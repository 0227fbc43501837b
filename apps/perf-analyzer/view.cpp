// SPDX-License-Identifier: Apache-2.0
// The reaction to a key.
#include "apps/perf-analyzer/view.hpp"

#include "apps/perf-analyzer/layout.hpp"

#include <buda/base/text.hpp>

#include <algorithm>
#include <cctype>

namespace buda::perf_analyzer {
namespace {

using Kind = Key::Kind;

void go_to(View& view, std::optional<std::size_t> epoch) {
  view.epoch = epoch;
  view.row = view.column = 0;
}

// The number of an epoch, until Enter.
void press_in_entry(const Run& run, View& view, Key key) {
  constexpr std::size_t kMaxDigits = 9;
  std::string& digits = *view.entry;
  if (key.kind == Kind::character && std::isdigit(static_cast<unsigned char>(key.character)) != 0 && digits.size() < kMaxDigits)
    digits += key.character;
  if (key.kind == Kind::backspace && !digits.empty()) digits.pop_back();
  if (key.kind == Kind::escape) view.entry.reset();
  if (key.kind != Kind::enter) return;
  const auto number = parse_uint(digits);
  if (number && *number < run.epochs.size()) go_to(view, static_cast<std::size_t>(*number));
  view.entry.reset();
}

void press_letter(const Run& run, View& view, char letter) {
  const std::size_t next = view.epoch ? *view.epoch + 1 : 0;
  switch (letter) {
    case 'n':
      if (next < run.epochs.size()) go_to(view, next);
      break;
    case 'p':
      if (view.epoch) go_to(view, *view.epoch == 0 ? std::nullopt : std::optional(*view.epoch - 1));
      break;
    case 'e':
      view.entry = "";
      break;
    case 'f':
      view.full_names = !view.full_names;
      view.column = 0;
      break;
    case 'h':
      view.help = true;
      view.row = 0;
      break;
    case 'q':
      view.quit = true;
      break;
    default:
      break;
  }
}

// `last`: the last row and step that there are. The window may have grown since the key before.
void scroll(View& view, Kind kind, std::size_t page, std::size_t last_row, std::size_t last_column) {
  view.row = std::min(view.row, last_row);
  view.column = std::min(view.column, last_column);
  page = std::max<std::size_t>(page, 1);
  switch (kind) {
    case Kind::up:
      view.row -= std::min<std::size_t>(view.row, 1);
      break;
    case Kind::down:
      view.row = std::min(view.row + 1, last_row);
      break;
    case Kind::page_up:
      view.row -= std::min(view.row, page);
      break;
    case Kind::page_down:
      view.row = std::min(view.row + page, last_row);
      break;
    case Kind::home:
      view.row = 0;
      break;
    case Kind::end:
      view.row = last_row;
      break;
    case Kind::left:
      view.column -= std::min<std::size_t>(view.column, 1);
      break;
    case Kind::right:
      view.column = std::min(view.column + 1, last_column);
      break;
    default:
      break;
  }
}

// Any key but those that scroll ends the help.
void press_in_help(const Run& run, View& view, Key key, Size size) {
  if (key.kind == Kind::character || key.kind == Kind::escape || key.kind == Kind::enter) {
    view.help = false;
    view.row = 0;
    return;
  }
  const Layout layout = layout_of(run, view, size);
  const std::size_t lines = help_lines(layout.table, view.epoch.has_value(), size.columns).size(), page = help_rows(size);
  const std::size_t column = view.column;
  scroll(view, key.kind, page, lines - std::min(lines, std::max<std::size_t>(page, 1)), 0);
  view.column = column;
}

}  // namespace

View press(const Run& run, View view, Key key, Size size) {
  if (view.entry) {
    press_in_entry(run, view, key);
  } else if (view.help) {
    press_in_help(run, view, key, size);
  } else if (key.kind == Kind::character) {
    press_letter(run, view, static_cast<char>(std::tolower(static_cast<unsigned char>(key.character))));
  } else {
    const Layout layout = layout_of(run, view, size);
    scroll(view, key.kind, layout.rows, layout.last_row, layout.stops.size() - 1);
  }
  return view;
}

}  // namespace buda::perf_analyzer
