// SPDX-License-Identifier: Apache-2.0
// Screens as text, and what keys do to them.
#include "apps/tt-smi/draw.hpp"
#include "unit/tt_smi/a_run.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace buda::tt_smi {
namespace {

using screen::Size;
using screen::Style;
using ::testing::HasSubstr;
using ::testing::Not;
using Kind = screen::Key::Kind;

constexpr Size kUsual{24, 80}, kSmall{10, 40};

// Limits have a '*' before and after them.
std::string screen_of(View view, Size size, const Seen& seen = a_run(), const std::string& message = "") {
  const HostInfo host = a_host();
  std::string out;
  const auto lines = draw({seen, host, "2026-01-02 03:04:05", message}, view, size);
  EXPECT_EQ(lines.size(), size.rows);
  for (const screen::Line& line : lines) {
    std::size_t width = 0;
    std::string text;
    for (const screen::Span& span : line) {
      width += span.text.size();
      text += span.style == Style::limit ? "*" + span.text + "*" : span.text;
    }
    EXPECT_LE(width, size.columns) << text;
    text.resize(text.find_last_not_of(' ') + 1);
    if (!text.empty() || !out.ends_with("\n\n")) out += text + '\n';
  }
  return out;
}

View after(const std::string& keys, Size size = kUsual, View view = {}) {
  for (const char c : keys) EXPECT_EQ(press(view, {Kind::character, c}, size), Wish::nothing);
  return view;
}

View moved(View view, Kind kind, int times) {
  for (int i = 0; i < times; ++i) static_cast<void>(press(view, {kind}, kUsual));
  return view;
}

TEST(TtSmiScreens, Devices) {
  EXPECT_EQ(screen_of({}, kUsual), R"(tt-smi 0.1.0  simulated devices                              2026-01-02 03:04:05
Host Info                   | running: net.yaml
OS         Linux            | Device Info     n300 chip 0
Distro     Debian 12        | Board Type      n300
Kernel     6.1              | Board ID        n/a (simulated)
Hostname   here             | Chip            wormhole_b0
Platform   x86_64           | Chip ID         0
CPUs       2                | Cores           2 x 3
Memory     16.00 GB         | Harvested Rows  10,11
Driver     none (simulated) | DRAM Status     6 channels, 12.00 GB
                            | DRAM Speed      240.0 GB/s
Compatibility Check         | PCIe Link       16.0 GB/s (simulated)
OS         Pass             | Ethernet        16 channels
Devices    Pass             |
Version    Pass             |
Simulation Pass             |

1 devices  2 telemetry  3 firmware  T side  W limits  V avg  S D  H help  Q quit
)");
}

TEST(TtSmiScreens, Telemetry) {
  EXPECT_EQ(screen_of(after("2t"), kUsual), R"(tt-smi 0.1.0  simulated devices                              2026-01-02 03:04:05
running: net.yaml
Device Telemetry   n300 chip 0   n300 chip 1
Core Voltage (V)   0.80          0.80
AICLK (MHz)        1000 / *1000*   1000 / *1000*
ARCCLK (MHz)       540           540
AXICLK (MHz)       900           900
Core Current (A)   50.0 / *131.5*  50.0 / *131.5*
Core Power (W)     40.0 / *105.2*  40.0 / *105.2*
Core Temp (C)      42.1 / *75.0*   42.1 / *75.0*
VREG Temp (C)      44.0 / *90.0*   44.0 / *90.0*
Inlet Temp (C)     25.0          25.0
Outlet Temp 1 (C)  n/a           n/a
Outlet Temp 2 (C)  n/a           n/a
Utilisation (%)    45.6          45.6
DRAM (GB/s)        12.5 / *240.0*  12.5 / *240.0*
DRAM moved         1.50 MB       1.50 MB
Cores, row 0       .01           .01
Cores, row 1       59*           59*

1 devices  2 telemetry  3 firmware  T side  W limits  V avg  S D  H help  Q quit
)");
}

TEST(TtSmiScreens, Firmware) {
  EXPECT_EQ(screen_of(after("3"), kUsual), R"(tt-smi 0.1.0  simulated devices                              2026-01-02 03:04:05
Host Info                   | running: net.yaml
OS         Linux            | Device Firmware Versions  n300 chip 0
Distro     Debian 12        | ARC FW                    n/a (simulated)
Kernel     6.1              | Ethernet FW               n/a (simulated)
Hostname   here             | M3 FW                     n/a (simulated)
Platform   x86_64           | TT-Flash                  n/a (simulated)
CPUs       2                | Date                      n/a (simulated)
Memory     16.00 GB         | Simulator                 OpenBuda 0.1.0
Driver     none (simulated) | Target                    grid
                            |
Compatibility Check         |
OS         Pass             |
Devices    Pass             |
Version    Pass             |
Simulation Pass             |

1 devices  2 telemetry  3 firmware  T side  W limits  V avg  S D  H help  Q quit
)");
}

TEST(TtSmiScreens, TelemetryOnASmallScreen) {
  EXPECT_EQ(screen_of(after("2", kSmall), kSmall), R"(tt-smi 0.1.0         2026-01-02 03:04:05
running: net.yaml
Device Telemetry   n300 chip 0
Core Voltage (V)   0.80
AICLK (MHz)        1000 / *1000*
ARCCLK (MHz)       540
AXICLK (MHz)       900
Core Current (A)   50.0 / *131.5*
Core Power (W)     40.0 / *105.2*
1 2 3 T W V S D arrows  H help  Q quit
)");
}

TEST(TtSmiScreens, SidebarOnASmallScreen) {
  EXPECT_EQ(screen_of(after("t", kSmall), kSmall), R"(tt-smi 0.1.0         2026-01-02 03:04:05
Host Info
OS         Linux
Distro     Debian 12
Kernel     6.1
Hostname   here
Platform   x86_64
CPUs       2
Memory     16.00 GB
1 2 3 T W V S D arrows  H help  Q quit
)");
  EXPECT_THAT(screen_of(after("tt", kSmall), kSmall), HasSubstr("Device Info"));
}

TEST(TtSmiScreens, LimitsAndAverages) {
  EXPECT_THAT(screen_of(after("2t"), kUsual), HasSubstr("40.0 / *105.2*"));
  EXPECT_THAT(screen_of(after("2tw"), kUsual), Not(HasSubstr("105.2")));
  EXPECT_THAT(screen_of(after("2tv"), kUsual), HasSubstr("40.0 avg 35.0 / *105.2*"));
}

TEST(TtSmiScreens, ArrowsShowOtherRowsAndChips) {
  const View down = moved(after("2", kSmall), Kind::down, 100);
  EXPECT_THAT(screen_of(down, kSmall), HasSubstr("Cores, row 1       59*"));
  EXPECT_THAT(screen_of(moved(after("2t"), Kind::right, 1), kUsual), Not(HasSubstr("chip 0")));
  EXPECT_EQ(screen_of(moved(moved(down, Kind::right, 9), Kind::home, 1), kSmall), screen_of(after("2", kSmall), kSmall));
}

TEST(TtSmiScreens, MessagesAndHelpStandInThePlaceOfKeys) {
  EXPECT_THAT(screen_of({}, kUsual, a_run(), "snapshot: there"), HasSubstr("\nsnapshot: there"));
  EXPECT_THAT(screen_of(after("h"), kUsual), HasSubstr("W  limits of the telemetry"));
  EXPECT_THAT(screen_of(after("h", kSmall), kSmall), HasSubstr("any key ends the help"));
  EXPECT_EQ(screen_of(after("hq"), kUsual), screen_of({}, kUsual)) << "the key that ends the help does no more";
}

TEST(TtSmiScreens, WhatIsNotMeasuredIsNotShown) {
  Seen seen = a_run();
  for (auto& chip : seen.devices[0].chips) chip.now.reset();
  EXPECT_THAT(screen_of(after("2t"), kUsual, seen), HasSubstr("Core Power (W)     n/a"));
  EXPECT_THAT(screen_of(after("2t"), kUsual, seen), Not(HasSubstr("row 0")));
}

TEST(TtSmiScreens, NamesAreNoCommandsOfTheTerminal) {
  Seen seen = a_run();
  seen.devices[0].device = seen.devices[0].arch = seen.devices[0].version = "\x1b[2J\n";
  for (const char* tab : {"1", "2", "3"}) EXPECT_THAT(screen_of(after(tab), kUsual, seen), Not(HasSubstr("\x1b")));
}

TEST(TtSmiScreens, AnySizeCanBeDrawn) {
  for (std::size_t rows = 1; rows < 12; ++rows)
    for (std::size_t columns = 1; columns < 90; columns += 3)
      for (const char* keys : {"1", "2", "3", "t", "2t", "h"}) static_cast<void>(screen_of(after(keys, {rows, columns}), {rows, columns}));
  Seen none = a_run();
  none.devices[0].chips.clear();
  static_cast<void>(screen_of(after("2"), kUsual, none));
}

TEST(TtSmiScreens, KeysThatAskForMore) {
  View view;
  EXPECT_EQ(press(view, {Kind::character, 's'}, kUsual), Wish::snapshot);
  EXPECT_EQ(press(view, {Kind::character, 'D'}, kUsual), Wish::dump);
  EXPECT_EQ(press(view, {Kind::character, 'q'}, kUsual), Wish::quit);
}

}  // namespace
}  // namespace buda::tt_smi
