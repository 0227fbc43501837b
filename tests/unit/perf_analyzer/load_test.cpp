// SPDX-License-Identifier: Apache-2.0
// Runs from files in memory: folders, files of --save, netlists that fit and others, and what is no report.
#include "apps/perf-analyzer/figures.hpp"
#include "apps/perf-analyzer/run.hpp"
#include "unit/perf_analyzer/a_run.hpp"

#include <buda/io/json.hpp>
#include <buda/io/memory_file_system.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace buda::perf_analyzer {
namespace {

using ::testing::HasSubstr;

std::string op_text(const std::string& name, const std::string& type, const std::string& input) {
  return "    " + name + ": {type: " + type + ", grid_loc: [0, 0], grid_size: [1, 1], inputs: [" + input +
         "], in_df: [Float16_b], out_df: Float16_b, intermed_df: Float16_b, acc_df: Float16_b, math_fidelity: HiFi3, t: 1, mblock: [1, 1], "
         "ublock: [1, 1], ublock_order: r, buf_size_mb: 2}\n";
}

struct Desk {
  Desk() : host(fs, sink) { put("report/summary.json", io::json_pretty(schema::write(third_only()))); }

  // Its graphs ran together.
  static perf::SummaryFile third_only() {
    perf::SummaryFile report = a_run().report;
    report.epochs.erase(report.epochs.begin(), report.epochs.begin() + 2);
    return report;
  }
  void put(const std::string& path, const std::string& text) { fs.put(path, text); }
  void put_netlist(const std::string& right) {
    put("net.yaml",
        "devices: {arch: wormhole_b0}\nqueues:\n"
        "  x: {type: queue, input: HOST, entries: 4, grid_size: [1, 1], t: 1, mblock: [1, 1], ublock: [1, 1], ublock_order: r, "
        "df: Float16_b, target_device: 0, loc: dram, dram: [[0, 0x20000000]]}\n"
        "graphs:\n  fwd_2:\n    target_device: 0\n    input_count: 4\n" +
            op_text("left", "nop", "x") + "  fwd_3:\n    target_device: 1\n    input_count: 4\n" + op_text(right, "nop", "x") +
            "programs:\n  - p: [{execute: {graph_name: fwd_2}}]\n");
  }
  std::string failure(const Options& options) {
    const auto run = load(options, host);
    if (run.ok()) return "loaded";
    const Diagnostic& d = run.failure().diagnostics().front();
    return d.code + " " + d.loc.file + ":" + std::to_string(d.loc.line) + ": " + d.message;
  }

  io::MemoryFileSystem fs;
  CollectingSink sink;
  cli::ToolHost host;
};

Options folder() {
  Options options;
  options.folder = "report";
  return options;
}

TEST(PerfAnalyzerLoad, AFileOfSaveIsTheFolder) {
  Desk desk;
  desk.put_netlist("right");
  Options options = folder();
  options.netlist = "net.yaml";
  options.save = "saved.json";
  const Screen none{[] { return false; }, [](const screen::Session&) { return success(); }};
  ASSERT_TRUE(run(options, none, desk.host).ok());
  Options later;
  later.load = "saved.json";
  const auto loaded = load(later, desk.host);
  ASSERT_TRUE(loaded.ok());
  EXPECT_EQ(loaded->report.netlist, "net.yaml");
  EXPECT_EQ(loaded->report.epochs, Desk::third_only().epochs);
}

TEST(PerfAnalyzerLoad, GraphsThatRanTogetherAreTakenApart) {
  Desk desk;
  desk.put_netlist("right");
  Options options = folder();
  options.spatial_epochs = true;
  EXPECT_THAT(desk.failure(options), HasSubstr("AN002"));
  options.netlist = "net.yaml";
  const auto loaded = load(options, desk.host);
  ASSERT_TRUE(loaded.ok());
  ASSERT_EQ(loaded->epochs.size(), 2u);
  EXPECT_EQ(loaded->epochs[0].graph, "fwd_2");
  ASSERT_EQ(loaded->epochs[0].ops.size(), 1u);
  EXPECT_EQ(loaded->epochs[0].ops[0].name, "left");
  // Two thirds of the work are on the left one of two chips.
  EXPECT_DOUBLE_EQ(loaded->epochs[0].math_utilisation, 0.25 * 2 * 2 / 3);
  auto together = *loaded;
  together.epochs = together.report.epochs;
  EXPECT_DOUBLE_EQ(figures_of(*loaded).speed, figures_of(together).speed);
}

TEST(PerfAnalyzerLoad, AnotherNetlistIsRefused) {
  Desk desk;
  desk.put_netlist("write");
  Options options = folder();
  options.netlist = "net.yaml";
  EXPECT_EQ(desk.failure(options), "AN001 net.yaml:0: graph 'fwd_2, fwd_3' of the netlist has no op 'right', which the report has");
}

TEST(PerfAnalyzerLoad, WhatIsNoReportIsToldWithItsPlace) {
  Desk desk;
  Options options = folder();
  options.folder = "nothing";
  EXPECT_THAT(desk.failure(options), HasSubstr("AN005 nothing/summary.json"));
  const std::string head = "{\"schema\": \"buda.perf/1\", \"arch\": \"a\", \"clock_hz\": 1,\n";
  const std::string tail = "\"inputs\": 1, \"executed_inputs\": 1, \"inputs_per_second\": 1, \"latency\": 1, \"epochs\": []}";
  for (const auto& [text, expected] :
       std::vector<std::pair<std::string, std::string>>{{"{\n\"schema\"", "summary.json:2"},
                                                        {"{\"schema\": \"buda.graph/1\"}", "summary.json:1"},
                                                        {head + "\"cycles\": 1e300, " + tail, "SC005 report/summary.json:2"},
                                                        {head + "\"cycles\": -1, " + tail, "SC005 report/summary.json:2"},
                                                        {head + "\"cycles\": \"many\", " + tail, "report/summary.json:2"}}) {
    desk.put("report/summary.json", text);
    EXPECT_THAT(desk.failure(folder()), HasSubstr(expected)) << text;
  }
  desk.put("report/summary.json", head + "\"cycles\": 9007199254740992, " + tail);
  EXPECT_EQ(desk.failure(folder()), "loaded");
}

}  // namespace
}  // namespace buda::perf_analyzer
