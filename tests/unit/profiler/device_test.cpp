// SPDX-License-Identifier: Apache-2.0
// Device logs: what is read, what is refused, and the figures, which are computed here by hand.
#include "apps/profiler/device_stats.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace buda::profiler {
namespace {

using ::testing::ElementsAre, ::testing::HasSubstr;

// Two executions of core 0-0, one of core 1-0, which takes part in the first. The lines of the guide have no heading.
constexpr std::string_view kLog =
    "0, 0, 0, NCRISC, 1, 100\n0, 0, 0, NCRISC, 2, 110\n0, 0, 0, NCRISC, 3, 150\n0, 0, 0, NCRISC, 4, 200\n"
    "0, 0, 0, BRISC, 1, 100\n0, 0, 0, BRISC, 2, 120\n0, 0, 0, BRISC, 3, 190\n0, 0, 0, BRISC, 4, 200\n"
    "0, 1, 0, NCRISC, 1, 100\n0, 1, 0, NCRISC, 2, 105\n0, 1, 0, NCRISC, 3, 125\n0, 1, 0, NCRISC, 4, 200\n"
    "0, 0, 0, NCRISC, 1, 200\n0, 0, 0, NCRISC, 2, 210\n0, 0, 0, NCRISC, 3, 310\n0, 0, 0, NCRISC, 4, 400\n";

DeviceLog read(std::string_view text) {
  auto log = parse_device_log(text, "log.csv");
  EXPECT_TRUE(log.ok());
  return log.ok() ? std::move(*log) : DeviceLog{};
}

std::string stats_of(std::string_view text) {
  const DeviceLog log = read(text);
  return stats_text(log, {}, analyses_of(log));
}

std::string refused(std::string_view text) {
  const auto log = parse_device_log(text, "log.csv");
  if (log.ok()) return "";
  const Diagnostic& d = log.failure().diagnostics().front();
  return d.code + " " + std::to_string(d.loc.line);
}

TEST(DeviceLog, HasCoresInTheOrderOfTheirPlacesAndRunsInThatOfTime) {
  const DeviceLog log = read(kLog);
  ASSERT_EQ(log.cores.size(), 2u);
  EXPECT_EQ(log.cores[1].x, 1u);
  EXPECT_EQ(log.cores[0].riscs[0].starts.size(), 2u);
  EXPECT_EQ(log.cores[0].riscs[1].starts.size(), 1u);
  EXPECT_THAT(log.cores[0].riscs[0].run(1), ElementsAre(Stamp{1, 200}, Stamp{2, 210}, Stamp{3, 310}, Stamp{4, 400}));
  EXPECT_EQ(log.clock_hz, 0);
}

TEST(DeviceLog, TellsTheClockInItsHeading) {
  const DeviceLog log =
      read("Chip clock is at 1.2 GHz\nPCIe slot, core_x, core_y, RISC processor type, timer_id, time\n0,0,0,TRISC1,7,5\n");
  EXPECT_DOUBLE_EQ(log.clock_hz, 1.2e9);
  EXPECT_THAT(log.cores.front().riscs[3].stamps, ElementsAre(Stamp{7, 5}));
}

// Kernels mark as often as they like, between markers of the firmware.
constexpr std::string_view kZones =
    "0,0,0,TRISC1,1,0\n0,0,0,TRISC1,2,10\n0,0,0,TRISC1,5,12\n0,0,0,TRISC1,7,13\n0,0,0,TRISC1,8,15\n0,0,0,TRISC1,7,15\n"
    "0,0,0,TRISC1,8,20\n0,0,0,TRISC1,6,21\n0,0,0,TRISC1,3,30\n0,0,0,TRISC1,4,40\n0,0,0,TRISC1,1,40\n0,0,0,TRISC1,6,41\n";

TEST(DeviceLog, MarkersOfKernelsBeginNoRun) {
  const DeviceLog log = read(kZones);
  ASSERT_EQ(log.cores[0].riscs[3].starts.size(), 2u);
  EXPECT_EQ(log.cores[0].riscs[3].run(0).size(), 10u);
}

TEST(DeviceZones, HaveNamesAndTimes) {
  const auto names = parse_zone_names("first marker,last marker,zone\n5,6,\"a, b\"\n7,8,step\n", "zones.csv");
  ASSERT_TRUE(names.ok());
  ASSERT_EQ(names->size(), 2u);
  EXPECT_EQ(names->front().name, "a, b");
  const DeviceLog log = read(kZones);
  const auto steps = times_of(names->back(), log.cores[0].riscs[3]);
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[1].begin, 15u);
  EXPECT_EQ(steps[1].end, 20u);
  EXPECT_EQ(times_of(names->front(), log.cores[0].riscs[3]).size(), 1u) << "an end without a beginning is none";
  const auto all = analyses_of(log, *names);
  ASSERT_EQ(all.size(), 5u);
  EXPECT_EQ(all[3].what, "TRISC1 zone a, b");
  EXPECT_EQ(all[4].cycles.sum, 7);
  EXPECT_EQ(
      timestamps_csv(log).substr(0, 130),
      "chip,core_x,core_y,TRISC1 1 run 0,TRISC1 2 run 0,TRISC1 3 run 0,TRISC1 4 run 0,TRISC1 5 run 0,TRISC1 6 run 0,TRISC1 7 run 0,TRISC1");
  EXPECT_THAT(timestamps_csv(log), HasSubstr("TRISC1 7 run 0 time 2"));
}

TEST(DeviceZones, OtherTablesAreRefused) {
  for (const char* bad : {"h\n5,6\n", "h\n4,6,x\n", "h\n7,6,x\n", "h\n5,6,\"x\n", "h\n5,99999999999,x\n", "h\n-5,6,x\n"})
    EXPECT_FALSE(parse_zone_names(bad, "zones.csv").ok()) << bad;
}

TEST(DeviceLog, RefusesWhatIsNone) {
  EXPECT_EQ(refused(""), "PF003 0");
  EXPECT_EQ(refused("Chip clock is at 1 GHz\n"), "PF003 0");
  EXPECT_EQ(refused("0,0,0,BRISC,1,5\n\n<script>\n"), "PF001 3");
  EXPECT_EQ(refused("0,0,0,BRISC,1\n"), "PF001 1");
  EXPECT_EQ(refused("0,0,0,BRISC,1,5,6\n"), "PF001 1");
  EXPECT_EQ(refused("0,0,0,ERISC,1,5\n"), "PF001 1");
  EXPECT_EQ(refused("0,0,-1,BRISC,1,5\n"), "PF001 1");
  EXPECT_EQ(refused("0,0,0,BRISC,1,99999999999999999999\n"), "PF001 1");
  EXPECT_EQ(refused("0,0,0,BRISC,4294967296,5\n"), "PF001 1");
  EXPECT_EQ(refused("0,0,0,BRISC,1,5\n0,0,0,BRISC,2,4\n"), "PF002 2");
}

TEST(DeviceStats, AreOfExecutionsAndOfKernels) {
  const DeviceLog log = read(kLog);
  const auto executions = executions_of(log);
  ASSERT_EQ(executions.size(), 2u);
  EXPECT_EQ(executions[0].kernel_begin, 105u);
  EXPECT_EQ(executions[0].kernel_end, 190u);
  EXPECT_EQ(executions[1].firmware_begin, 200u);
  const auto all = analyses_of(log);
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[0].cycles.sum, 300);       // firmware: 100 and 200
  EXPECT_EQ(all[1].cycles.sum, 85 + 100);  // kernels: 105 to 190, 210 to 310
  EXPECT_EQ(all[2].what, "NCRISC kernel");
  EXPECT_EQ(all[2].cycles.count, 3u);  // 40, 20, 100
  EXPECT_EQ(all[2].cycles.median, 40);
  EXPECT_EQ(all[2].cycles.least, 20u);
  EXPECT_EQ(all[2].cycles.most, 100u);
  EXPECT_EQ(all[3].cycles.sum, 70);
  EXPECT_EQ(analyses_of(log.cores[1]).size(), 1u);
}

TEST(DeviceStats, ChipsHaveExecutionsOfTheirOwn) {
  const DeviceLog log = read(
      "0,0,0,BRISC,1,10\n0,0,0,BRISC,2,11\n0,0,0,BRISC,3,12\n0,0,0,BRISC,4,20\n"
      "1,0,0,BRISC,1,10\n1,0,0,BRISC,2,11\n1,0,0,BRISC,3,12\n1,0,0,BRISC,4,20\n");
  EXPECT_EQ(executions_of(log).size(), 2u);
}

TEST(DeviceStats, MedianOfAnEvenNumberIsTheMeanOfTheMiddle) { EXPECT_EQ(figures_of({4, 1, 3, 2}).median, 2.5); }

TEST(DeviceStats, TextHasNanosecondsWhereTheClockIsKnown) {
  EXPECT_THAT(stats_of(kLog), HasSubstr("cores: 2, executions: 2\n"));
  const std::string timed = stats_of("Chip clock is at 2 GHz\n" + std::string(kLog));
  EXPECT_THAT(timed, HasSubstr("clock: 2000 MHz"));
  EXPECT_THAT(timed, ::testing::ContainsRegex("firmware, first start to last end +2 +150 +150 +100 +200 +300 +75\n"));
}

TEST(DeviceTimestamps, ARowForEachCore) {
  EXPECT_EQ(timestamps_csv(read("0,2,1,BRISC,1,10\n0,2,1,BRISC,2,11\n0,2,1,BRISC,1,30\n0,3,1,BRISC,2,12\n")),
            "chip,core_x,core_y,BRISC 1 run 0,BRISC 2 run 0,BRISC 1 run 1,BRISC 2 run 1\n0,2,1,10,11,30,\n0,3,1,,12,,\n");
}

}  // namespace
}  // namespace buda::profiler
