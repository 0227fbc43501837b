// SPDX-License-Identifier: Apache-2.0
// What the page gets of a placement: with the netlist, without it, and where ops cannot be.
#include "apps/reportify/placement_data.hpp"
#include "apps/reportify/run_data.hpp"

#include <buda/io/json.hpp>
#include <buda/io/memory_file_system.hpp>
#include <buda/io/sha256.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace buda::reportify {
namespace {

using ::testing::Contains, ::testing::HasSubstr, ::testing::Pair;

balance::ReportOp op(const std::string& name, GridCoord at, GridShape grid) {
  balance::ReportOp out;
  out.name = name;
  out.node = "/" + name;
  out.type = "nop";
  out.grid_loc = at;
  out.grid = grid;
  out.mblock = out.ublock = {1, 1};
  out.cycles = {.kernel = 100, .inputs = {7}, .output = 5, .limiter = 100};
  out.limiter = "kernel";
  out.resources = {{.resource = "l1", .used = 1000, .available = 4000, .parts = {}}};
  return out;
}

balance::PlacementReport two_ops() {
  balance::PlacementReport out;
  out.model = "m";
  out.device = "n150";
  balance::ReportEpoch epoch;
  epoch.graph = "fwd_0";
  epoch.ops = {op("a", {0, 0}, {1, 2}), op("b", {3, 1}, {2, 1})};
  epoch.ops[1].transposed = true;
  out.epochs = {epoch};
  balance::ReportQueue queue;
  queue.name = "x";
  queue.channels = {0};
  out.queues = {queue};
  return out;
}

std::string netlist_text() {
  const auto op_text = [](const std::string& name, const std::string& input) {
    return "    " + name + ": {type: nop, grid_loc: [0, 0], grid_size: [1, 1], inputs: [" + input +
           "], in_df: [Float16_b], out_df: Float16_b, intermed_df: Float16_b, acc_df: Float16_b, math_fidelity: HiFi3, t: 1, mblock: [1, "
           "1], "
           "ublock: [1, 1], ublock_order: r, buf_size_mb: 2}\n";
  };
  return "devices: {arch: wormhole_b0}\nqueues:\n"
         "  x: {type: queue, input: HOST, entries: 4, grid_size: [1, 1], t: 1, mblock: [1, 1], ublock: [1, 1], ublock_order: r, df: "
         "Float16_b, "
         "target_device: 0, loc: dram, dram: [[0, 0x20000000]]}\n"
         "graphs:\n  fwd_0:\n    target_device: 0\n    input_count: 4\n" +
         op_text("a", "x") + op_text("b", "a") + "programs:\n  - p: [{execute: {graph_name: fwd_0}}]\n";
}

struct Reports {
  explicit Reports(const balance::PlacementReport& report) { fs.put("m.report.json", io::json_pretty(schema::write(report))); }
  io::MemoryFileSystem fs;
  Module module{
      .name = "m", .folder = ".", .passes = {}, .report = "m.report.json", .netlist = {}, .summary = {}, .executions = {}, .accuracy = {}};
};

TEST(ReportifyPlacement, TheNetlistSaysWhatAnOpReads) {
  Reports files(two_ops());
  files.fs.put("m.yaml", netlist_text());
  files.module.netlist = "m.yaml";
  const auto placement = read_placement(files.module, files.fs);
  ASSERT_TRUE(placement.ok());
  device::DeviceDescriptor device;
  device.noc = {3, 9};
  device.workers = {{1, 2}, {1, 2, 3, 4, 5, 6, 7}};
  device.dram.channels = {{{{0, 0}, {0, 1}}, 0}};
  device.eth = {{1, 0}};
  perf::SummaryFile run;
  run.epochs.resize(1);
  run.epochs[0].graph = "fwd_0";
  run.epochs[0].loads = {{"NoC 0 1-1>2-1", 0.25, 640}};
  const std::string text = io::json_line(placement_data(*placement, {&device, &run}));
  EXPECT_THAT(text, HasSubstr(R"("grid": [7, 3])"));
  EXPECT_THAT(text, HasSubstr(R"("loads": [["NoC 0 1-1>2-1", 0.25, 640]])"));
  EXPECT_THAT(text, HasSubstr(R"("workers": [[1, 2], [1, 2, 3, 4, 5, 6, 7]], "dram": [["0-0", "0-1"]], "ethernet": ["1-0"], "pcie": "")"));
  EXPECT_THAT(text, HasSubstr(R"("inputs": [{"queue": 0}])"));
  EXPECT_THAT(text, HasSubstr(R"("inputs": [{"op": 0}])"));
  EXPECT_THAT(text, HasSubstr(R"(["in_df", "[Float16_b]"])"));
  EXPECT_THAT(text, HasSubstr(R"("l1": [1000, 4000])"));
  EXPECT_THAT(placed_facts(*placement).at("/b"), Contains(Pair("math_fidelity", "HiFi3")));
}

TEST(ReportifyPlacement, WithoutNetlistAndDeviceTheGridIsAsLargeAsOpsNeed) {
  Reports files(two_ops());
  const auto placement = read_placement(files.module, files.fs);
  ASSERT_TRUE(placement.ok());
  const std::string text = io::json_line(placement_data(*placement, {}));
  // b has 2 x 1 cores, transposed, from row 3 and column 1 on.
  EXPECT_THAT(text, HasSubstr(R"("grid": [4, 3])"));
  EXPECT_THAT(text, HasSubstr(R"("at": [3, 1], "size": [1, 2])"));
  EXPECT_THAT(text, HasSubstr(R"("inputs": [])"));
  EXPECT_THAT(placed_facts(*placement).at("/a"), Contains(Pair("grid_size", "[1, 2]")));
}

TEST(ReportifyPlacement, TheTotalsSayWhatLimitsInTheWordsOfTheSummary) {
  balance::PlacementReport report = two_ops();
  report.totals.ops = 2;
  report.totals.bottleneck_op = "b";
  report.totals.limiter = "kernel";
  EXPECT_THAT(total_facts(report), Contains(Pair("limited by", "the kernel of op 'b' (100 cycles)")));
}

// Results of one op, or of no op: with the digest of a netlist.
std::string accuracy_text(const std::string& digest) {
  runtime::AccuracyFile file{.model = "m.tti", .netlist_digest = digest, .ops = {{.name = "a"}}};
  return io::json_pretty(schema::write(file));
}
std::string summary_text(const std::string& digest) {
  perf::SummaryFile file;
  file.arch = "wormhole_b0";
  file.netlist_digest = digest;
  return io::json_pretty(schema::write(file));
}

TEST(ReportifyPlacement, ResultsOfAnotherCompilationAreNotShown) {
  const std::string own = io::sha256_hex(netlist_text()), other = io::sha256_hex("another");
  for (const std::string& digest : {own, other, std::string()}) {
    Reports files(two_ops());
    files.fs.put("m.yaml", netlist_text());
    files.fs.put("accuracy.json", accuracy_text(digest));
    files.fs.put("perf/summary.json", summary_text(digest));
    files.module.netlist = "m.yaml";
    files.module.accuracy = "accuracy.json";
    files.module.summary = "perf/summary.json";
    const auto placement = read_placement(files.module, files.fs);
    ASSERT_TRUE(placement.ok());
    EXPECT_EQ(placement->accuracy.empty(), digest == other);
    EXPECT_EQ(placement->older.has_value(), digest == other);
    const auto run = read_run(files.module, files.fs);
    EXPECT_EQ(run.ok(), digest != other);
    if (!run.ok()) {
      EXPECT_EQ(run.failure().diagnostics().front().code, "RY004");
      EXPECT_EQ(placement->older->diagnostics().front().code, "RY004");
    }
  }
}

TEST(ReportifyPlacement, AnInterruptedRunIsNotPassedOver) {
  Reports files(two_ops());
  files.fs.put("r/m.graph.json", "{}");
  files.fs.put("r/perf/.openbuda-files.json", R"({"whole": false, "files": ["summary.json"]})");
  const auto modules = find_modules(files.fs, "r");
  ASSERT_TRUE(modules.ok());
  const auto run = read_run(modules->front(), files.fs);
  ASSERT_FALSE(run.ok());
  EXPECT_EQ(run.failure().diagnostics().front().code, "IO008");
}

TEST(ReportifyPlacement, AnOpOutsideOfAnyChipIsRefused) {
  for (const GridCoord at : {GridCoord{-1, 0}, GridCoord{0, 2147483647}, GridCoord{255, 0}}) {
    balance::PlacementReport report = two_ops();
    report.epochs[0].ops[1].grid_loc = at;
    report.epochs[0].ops[1].grid = {2, 2};
    Reports files(report);
    const auto placement = read_placement(files.module, files.fs);
    ASSERT_FALSE(placement.ok());
    EXPECT_THAT(placement.failure().diagnostics().front().code, ::testing::AnyOf("RY003", "SC005"));
  }
}

}  // namespace
}  // namespace buda::reportify
