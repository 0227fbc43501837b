// SPDX-License-Identifier: Apache-2.0
// Which part of the display is shown, and how keys change that.
#pragma once

#include <buda/screen/screen.hpp>

#include <cstddef>
#include <cstdint>

namespace buda::tt_smi {

enum class Tab : std::uint8_t { device, telemetry, firmware };

struct View {
  Tab tab = Tab::device;
  bool sidebar = true;         // where there is room beside the tab
  bool sidebar_alone = false;  // where there is none: instead of the tab
  bool limits = true, averages = false;
  bool help = false;
  std::size_t row = 0;   // the first that is shown
  std::size_t chip = 0;  // likewise
};

// What a key asks for that is more than another view.
enum class Wish : std::uint8_t { nothing, snapshot, dump, quit };

// From so many columns on there is room for the sidebar.
inline constexpr std::size_t kWideColumns = 64;

Wish press(View& view, screen::Key key, screen::Size size);

}  // namespace buda::tt_smi
