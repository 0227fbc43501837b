// SPDX-License-Identifier: Apache-2.0
// Folders of reports in memory: which files belong to which model, and what is said of those that cannot be shown.
#include "apps/reportify/modules.hpp"
#include "apps/reportify/pages.hpp"
#include "apps/reportify/run.hpp"

#include <buda/io/memory_file_system.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace buda::reportify {
namespace {

using ::testing::ElementsAre, ::testing::HasSubstr;

std::vector<std::string> pass_names(const Module& module) {
  std::vector<std::string> out;
  for (const Pass& pass : module.passes) out.push_back(pass.name);
  return out;
}

TEST(ReportifyModules, PassesGoFromTheImportedGraphToThePlacedOne) {
  io::MemoryFileSystem fs;
  for (const char* path : {"r/m/m.graph.json", "r/m/m.device.graph.json", "r/m/m.before.graph.json", "r/m/m.between10.graph.json",
                           "r/m/m.between2.graph.json", "r/m/m.behind.graph.json", "r/m/passes/013-b.graph.json",
                           "r/m/passes/002-a.graph.json", "r/m/passes/002-a.graph.safetensors", "r/m/m.report.json", "r/m/m.yaml"})
    fs.put(path, "");
  const auto modules = find_modules(fs, "r");
  ASSERT_TRUE(modules.ok());
  ASSERT_EQ(modules->size(), 1u);
  EXPECT_EQ(modules->front().name, "m");
  EXPECT_EQ(modules->front().report, "r/m/m.report.json");
  EXPECT_EQ(modules->front().netlist, "r/m/m.yaml");
  EXPECT_THAT(pass_names(modules->front()), ElementsAre("initial_graph", "002-a", "013-b", "host_before", "post_placer", "host_between2",
                                                        "host_between10", "host_behind"));
}

TEST(ReportifyModules, ModelsOfAFolderAndOfThoseInItAreFound) {
  io::MemoryFileSystem fs;
  for (const char* path : {"r/v1.graph.json", "r/v2.report.json", "r/deep/c.graph.json", "r/deep/er/d.graph.json", "r/other/notes.txt"})
    fs.put(path, "");
  const auto modules = find_modules(fs, "r");
  ASSERT_TRUE(modules.ok());
  std::vector<std::string> names;
  for (const Module& module : *modules) names.push_back(module.name);
  EXPECT_THAT(names, ElementsAre("v1", "v2", "c"));
  EXPECT_TRUE((*modules)[1].passes.empty());
}

TEST(ReportifyModules, AFolderWithoutReportsSaysWhatLeavesThem) {
  io::MemoryFileSystem fs;
  fs.put("r/notes.txt", "");
  const auto modules = find_modules(fs, "r");
  ASSERT_FALSE(modules.ok());
  EXPECT_EQ(modules.failure().diagnostics().front().code, "RY001");
  EXPECT_THAT(modules.failure().diagnostics().front().hint, HasSubstr("--reports"));
  EXPECT_EQ(find_modules(fs, "none").failure().diagnostics().front().code, "RY001");
}

struct Desk {
  Desk() : host(fs, sink) {
    host.share_dir = "share";
    for (const char* name : {"index.html", "reportify.css", "reportify.js", "LICENSES.txt"})
      fs.put(std::string("share/reportify/") + name, name);
  }
  std::string content(const std::string& path) {
    const auto pages = pages_of("r", host);
    if (!pages.ok()) return pages.failure().diagnostics().front().code;
    for (const Page& page : *pages)
      if (page.path == path) return page.content().ok() ? *page.content() : "failed";
    return "none";
  }
  io::MemoryFileSystem fs;
  CollectingSink sink;
  Host host;
};

TEST(ReportifyPages, WithoutThePagesCodeItIsSaidWhereItComesFrom) {
  Desk desk;
  desk.host.share_dir = "elsewhere";
  desk.fs.put("r/m.graph.json", "");
  EXPECT_EQ(desk.content("index.html"), "RY002");
}

TEST(ReportifyPages, WhatCannotBeReadIsAWarningAndShown) {
  Desk desk;
  desk.fs.put("r/m.graph.json", "{\n  nonsense");
  desk.fs.put("r/m.report.json", R"({"schema": "buda.placement-report/1", "model": 99999999999999999999999})");
  EXPECT_THAT(desk.content("data/0/pass-0.js"), HasSubstr(R"(reportify.receive("0/pass-0", {"problem": "r/m.graph.json:2:)"));
  ASSERT_FALSE(desk.sink.diagnostics().empty());
  EXPECT_EQ(desk.sink.diagnostics().front().severity, Severity::warning);
  EXPECT_THAT(desk.content("data/modules.js"), HasSubstr(R"("problem": "r/m.report.json:1:)"));
  EXPECT_EQ(desk.content("index.html"), "index.html");
  EXPECT_EQ(desk.content("../r/m.graph.json"), "none");
}

// What the host runs is a part of the model, and no step after or before another graph.
TEST(ReportifyPages, ChangesAreThoseOfTheGraphBefore) {
  Desk desk;
  for (const char* path : {"r/m.graph.json", "r/m.before.graph.json", "r/m.device.graph.json", "r/m.behind.graph.json"})
    desk.fs.put(path, "{}");
  const std::string modules = desk.content("data/modules.js");
  EXPECT_THAT(modules, HasSubstr(R"({"name": "host_before", "id": "0/pass-1"}, {"name": "post_placer", "id": "0/pass-2", "before": 0}, )"
                                 R"({"name": "host_behind", "id": "0/pass-3"})"));
}

TEST(ReportifyServer, AnswersWithFilesOfThePageOnly) {
  Desk desk;
  desk.fs.put("r/m.graph.json", "{}");
  EXPECT_EQ(answer_to("/", "r", desk.host).body, "index.html");
  EXPECT_EQ(answer_to("/", "r", desk.host).type, "text/html; charset=utf-8");
  EXPECT_EQ(answer_to("/data/modules.js", "r", desk.host).type, "text/javascript; charset=utf-8");
  for (const char* path : {"", "index.html", "/r/m.graph.json", "/../r/m.graph.json", "/data/", "/data/1/pass-0.js"})
    EXPECT_EQ(answer_to(path, "r", desk.host).status, 404) << path;
  EXPECT_EQ(answer_to("/", "gone", desk.host).status, 500);
}

TEST(ReportifyServer, ServesOnlyAReportThatIsThere) {
  Desk desk;
  desk.fs.put("r/m.graph.json", "{}");
  int asked = 0;
  const serve::Serve serve = [&](const serve::Service& service) -> Result<void> {
    ++asked;
    EXPECT_EQ(service.address, "127.0.0.1");
    EXPECT_EQ(service.answer("/").status, 200);
    return success();
  };
  Options options;
  options.folder = "gone";
  EXPECT_FALSE(serve_report(options, serve, desk.host).ok());
  EXPECT_EQ(asked, 0);
  options.folder = "r";
  EXPECT_FALSE(serve_report(
                   options, [](const serve::Service&) -> Result<void> { return input_error("HT001", {}, "in use"); }, desk.host)
                   .ok());
  EXPECT_TRUE(serve_report(options, serve, desk.host).ok());
  EXPECT_EQ(asked, 1);
}

}  // namespace
}  // namespace buda::reportify
