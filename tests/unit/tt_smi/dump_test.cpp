// SPDX-License-Identifier: Apache-2.0
// Readings become rows with the guide's columns.
#include "apps/tt-smi/dump.hpp"
#include "unit/tt_smi/a_run.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace buda::tt_smi {
namespace {

using ::testing::ElementsAre;

TEST(TtSmiDump, HasTheColumnsOfTheGuide) {
  EXPECT_THAT(dump_columns(), ElementsAre("Timestamp (s)", "Core Voltage (V)", "AICLK (MHz)", "ARCCLK (MHz)", "AXICLK (MHz)",
                                          "Core Current (A)", "Core Power (W)", "Core Temp (°C)", "VREG Temp (°C)", "Inlet Temp (°C)",
                                          "Outlet Temp 1 (°C)", "Outlet Temp 2 (°C)"));
}

TEST(TtSmiDump, ASheetForEachChipARowForEachReading) {
  std::vector<Sheet> sheets;
  add_reading(sheets, 0.502691, a_run());
  Seen later = a_run();
  later.devices[0].chips[1].now.reset();
  add_reading(sheets, 1.004782, later);
  ASSERT_EQ(sheets.size(), 2u);
  EXPECT_EQ(sheets[1].name, "n300-chip-1");
  const std::string csv = csv_text(sheets[1]);
  EXPECT_EQ(csv.substr(csv.find('\n') + 1), "0.502691,0.80,1000,540,900,50.0,40.0,42.1,44.0,25.0,,\n1.004782,,,,,,,,,,,\n");
}

TEST(TtSmiDump, NamesOfDevicesAreNoPaths) {
  Seen seen = a_run();
  seen.devices[0].device = "../../etc/passwd";
  std::vector<Sheet> sheets;
  add_reading(sheets, 0, seen);
  EXPECT_EQ(sheets[0].name, "------etc-passwd-chip-0");
}

}  // namespace
}  // namespace buda::tt_smi
