// SPDX-License-Identifier: Apache-2.0
// The keys of the guide, and those that scroll.
#include "apps/tt-smi/view.hpp"

#include <cctype>

namespace buda::tt_smi {
namespace {

using Kind = screen::Key::Kind;

void open(View& view, Tab tab) {
  view.tab = tab;
  view.row = 0;
  view.sidebar_alone = false;
}

void scroll(View& view, Kind kind, screen::Size size) {
  const std::size_t page = size.rows > 4 ? size.rows - 4 : 1;
  switch (kind) {
    case Kind::down:
      ++view.row;
      break;
    case Kind::up:
      view.row -= view.row > 0 ? 1 : 0;
      break;
    case Kind::page_down:
      view.row += page;
      break;
    case Kind::page_up:
      view.row -= view.row < page ? view.row : page;
      break;
    case Kind::right:
      ++view.chip;
      break;
    case Kind::left:
      view.chip -= view.chip > 0 ? 1 : 0;
      break;
    case Kind::home:
      view.row = view.chip = 0;
      break;
    default:
      break;
  }
}

}  // namespace

Wish press(View& view, screen::Key key, screen::Size size) {
  if (view.help) {
    view.help = false;
    return Wish::nothing;
  }
  if (key.kind != Kind::character) {
    scroll(view, key.kind, size);
    return Wish::nothing;
  }
  bool& sidebar = size.columns < kWideColumns ? view.sidebar_alone : view.sidebar;
  switch (std::tolower(static_cast<unsigned char>(key.character))) {
    case '1':
      open(view, Tab::device);
      break;
    case '2':
      open(view, Tab::telemetry);
      break;
    case '3':
      open(view, Tab::firmware);
      break;
    case 't':
      sidebar = !sidebar;
      break;
    case 'h':
      view.help = true;
      break;
    case 'w':
      view.limits = !view.limits;
      break;
    case 'v':
      view.averages = !view.averages;
      break;
    case 's':
      return Wish::snapshot;
    case 'd':
      return Wish::dump;
    case 'q':
      return Wish::quit;
    default:
      break;
  }
  return Wish::nothing;
}

}  // namespace buda::tt_smi
