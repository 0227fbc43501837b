// SPDX-License-Identifier: Apache-2.0
// The self-contained page: nothing is loaded, and no text of a report is more than text. And the dashboard's answers.
#include "apps/profiler/page.hpp"
#include "apps/profiler/run.hpp"

#include <buda/image/archive.hpp>
#include <buda/io/memory_file_system.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace buda::profiler {
namespace {

using ::testing::HasSubstr, ::testing::Not;

const PageCode kCode = {{"device_perf.html",
                         "<link rel=\"stylesheet\" href=\"profiler.css\"><script src=\"data.js\"></script>"
                         "<script src=\"profiler.js\"></script>"},
                        {"profiler.css", "body {}"},
                        {"profiler.js", "draw();"}};

struct Desk {
  Desk() : host(fs, diagnostics) {
    host.share_dir = "share";
    for (const auto& [name, content] : kCode) fs.put("share/profiler/" + name, content);
    fs.put("run/profile_log_device.csv", "0,0,0,BRISC,1,1\n0,0,0,BRISC,2,2\n0,0,0,BRISC,3,3\n0,0,0,BRISC,4,4\n");
    fs.put("run/ops_perf_results.csv",
           "OP CODE,GLOBAL CALL COUNT,ATTRIBUTES,DEVICE FW START CYCLE,DEVICE FW END CYCLE,DEVICE KERNEL DURATION [ns]\nexp,1,,1,4,1\n");
    options.input = "run";
    options.output = "out";
  }
  io::MemoryFileSystem fs;
  CollectingSink diagnostics;
  Host host;
  Options options;
};

TEST(ProfilerPage, HoldsEverythingItself) {
  auto report = parse_ops_report(
      "OP CODE,GLOBAL CALL COUNT,ATTRIBUTES,DEVICE FW START CYCLE,DEVICE FW END CYCLE,DEVICE KERNEL DURATION [ns]\n"
      "</script><script>alert(1)</script>,1,<!--,1,4,1\n",
      "ops.csv");
  ASSERT_TRUE(report.ok());
  const std::string page = whole_page(kCode, ops_page(*report));
  EXPECT_THAT(page, HasSubstr("<style>\nbody {}</style><script>\nwindow.profile = {"));
  EXPECT_THAT(page, HasSubstr("draw();</script>"));
  EXPECT_THAT(page, HasSubstr("\\u003c/script>\\u003cscript>alert(1)"));
  EXPECT_THAT(page, Not(HasSubstr("src=")));
  EXPECT_THAT(page, Not(HasSubstr("href=")));
}

// Three thousand runs one after the other are drawn as some hundred bars, with which no run is lost.
TEST(ProfilerPage, ManyRunsAreFewBars) {
  std::string text;
  for (int run = 0; run < 3000; ++run)
    for (int marker = 1; marker <= 4; ++marker)
      text += "0,0,0,BRISC," + std::to_string(marker) + "," + std::to_string(run * 100 + marker * 10) + "\n";
  const auto log = parse_device_log(text, "log.csv");
  ASSERT_TRUE(log.ok());
  const io::Node data = device_page(*log, {}, analyses_of(*log));
  const auto& bars = data.find("rows")->items().front().items().back().items();
  EXPECT_GT(bars.size(), 360u);
  EXPECT_LT(bars.size(), 400u);
  EXPECT_EQ(*bars.front().items().back().as_string(), "BRISC kernel, runs 0 to 7");
  EXPECT_THAT(*bars.back().items().back().as_string(), ::testing::EndsWith(" 2999"));
}

TEST(ProfilerDashboard, AnswersForItsOwnFilesOnly) {
  Desk desk;
  desk.options.date = true;
  desk.options.name = "digits";
  desk.options.no_print_stats = true;
  int asked = 0;
  const Outside outside = {[&](const serve::Service& service) -> Result<void> {
                             ++asked;
                             EXPECT_EQ(service.address, "127.0.0.1");
                             EXPECT_EQ(service.port, 8050);
                             EXPECT_EQ(service.answer("/").type, "text/html; charset=utf-8");
                             EXPECT_THAT(service.answer("/data.js").body,
                                         HasSubstr("\"download\": \"DATE_device_perf_results_digits.tar\""));
                             EXPECT_EQ(service.answer("/DATE_device_perf_results_digits.tar").type, "application/x-tar");
                             for (const char* path : {"/run/profile_log_device.csv", "/../run/profile_log_device.csv", "/out", "//", ""})
                               EXPECT_EQ(service.answer(path).status, 404) << path;
                             return success();
                           },
                           [] { return std::string("DATE"); }};
  ASSERT_TRUE(profile_device(desk.options, outside, desk.host).ok());
  EXPECT_EQ(asked, 1);
  auto tar = desk.fs.read("out/device/DATE_device_perf_results_digits.tar");
  ASSERT_TRUE(tar.ok());
  auto members = image::read_archive(*tar, "tar");
  ASSERT_TRUE(members.ok());
  std::vector<std::string> names;
  for (const auto& [name, content] : *members) names.push_back(name);
  EXPECT_THAT(names, ::testing::ElementsAre("DATE_device_perf_digits.html", "DATE_device_rearranged_timestamps_digits.csv",
                                            "DATE_device_stats_digits.txt", "profile_log_device.csv"));
}

TEST(ProfilerOps, TarballHasTheRunButNoEarlierResults) {
  Desk desk;
  desk.options.output = "run/output";
  desk.fs.put("run/output/old.csv", "");
  desk.fs.put("run/perf_results/host/a.json", "{}");
  ASSERT_TRUE(profile_ops(desk.options, {}, desk.host).ok());
  auto tar = desk.fs.read("run/output/ops/ops_perf_results.tar");
  ASSERT_TRUE(tar.ok());
  auto members = image::read_archive(*tar, "tar");
  ASSERT_TRUE(members.ok());
  EXPECT_TRUE(members->contains("perf_results/host/a.json"));
  EXPECT_FALSE(members->contains("output/old.csv"));
  EXPECT_TRUE(desk.fs.exists("run/output/ops/ops_perf_results.csv"));
}

TEST(ProfilerNames, AreNoPaths) {
  Desk desk;
  for (const char* name : {"../x", "a/b", "a\nb"}) {
    desk.options.name = name;
    EXPECT_FALSE(profile_ops(desk.options, {}, desk.host).ok()) << name;
  }
}

}  // namespace
}  // namespace buda::profiler
