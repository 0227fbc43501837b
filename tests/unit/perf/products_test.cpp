// SPDX-License-Identifier: Apache-2.0
// Files of a small run: two ops on a core each, two inputs, two executions.
#include <buda/io/json.hpp>
#include <buda/perf/executions.hpp>
#include <buda/perf/executions_file.hpp>
#include <buda/perf/products.hpp>
#include <buda/perf/writers.hpp>

#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <map>
#include <optional>

namespace buda::perf {
namespace {

Event cycles(EventKind kind, EntityId entity, std::uint64_t begin, std::uint64_t end, std::uint16_t lane, std::uint32_t a,
             std::uint32_t b) {
  return {SimTime::from_cycles(begin), SimTime::from_cycles(end), entity, kind, lane, a, b};
}

// Op a works on inputs from 10 and 60 on, b 50 cycles later; all of it again from 1000 on.
struct SmallRun {
  SmallRun() {
    const EntityId program = recording.add({Entity::Kind::program, "run_fwd", -1, 0, 0, {}});
    const EntityId epoch = recording.add({Entity::Kind::program, "fwd", -1, 0, 0, program});
    const EntityId core_a = recording.add({Entity::Kind::core, "1-2", 0, 1, 0, {}});
    const EntityId a = recording.add({Entity::Kind::op, "a", 0, 1, 0, core_a});
    const EntityId core_b = recording.add({Entity::Kind::core, "2-2", 0, 1, 1, {}});
    const EntityId b = recording.add({Entity::Kind::op, "b", 0, 1, 1, core_b});
    for (std::uint64_t at : {0, 1000}) {
      for (std::uint32_t input : {0, 1}) {
        recording.record(cycles(EventKind::input, a, at + 10 + 50 * input, at + 50 + 50 * input, 1, input, 30 * 16));
        recording.record(cycles(EventKind::input, b, at + 60 + 50 * input, at + 90 + 50 * input, 1, input, 20 * 16));
      }
      recording.record(cycles(EventKind::streams, core_a, at + 2, at + 55, 0, 4096, 0));
      recording.record(cycles(EventKind::streams, core_a, at + 40, at + 110, 1, 4096, 0));
      recording.record(cycles(EventKind::epoch, epoch, at, at + 200, 0, 3, 0));
    }
    summary.clock.hz = 1e9;
    summary.arch = "wormhole_b0";
    summary.time = SimTime::from_cycles(1200);
    summary.inputs = 4;
    EpochSummary e;
    e.graph = "fwd";
    e.executions = 2;
    e.inputs = 2;
    e.time = SimTime::from_cycles(200);
    e.period = SimTime::from_cycles(50);
    for (const char* name : {"a", "b"}) {
      EpochSummary::Op op;
      op.name = name;
      op.type = "nop";
      op.cores = 1;
      op.grid = {1, 1};
      op.t = op.mblock_m = op.mblock_n = op.ublock_r = op.ublock_c = 1;
      op.kernel = SimTime::from_cycles(30);
      op.estimate = 30;
      op.limiter = 40;
      op.math = 15;
      op.inputs.resize(1);
      op.inputs[0].bytes = 2080;
      op.inputs[0].moving = 0.1;
      op.output.bytes = 1040;
      op.formats = {"Float16_b", "Bfp8_b"};
      e.ops.push_back(op);
    }
    summary.epochs = {e};
  }
  std::string file(const std::string& path) const {
    std::optional<std::string> content;
    EXPECT_TRUE(write_products(summary, recording, [&](const Product& p) {
                  if (p.path == path) content = p.content;
                  return success();
                }).ok());
    EXPECT_TRUE(content) << path << " is not written";
    return content.value_or("");
  }

  bool has(const std::string& path) const {
    bool found = false;
    EXPECT_TRUE(write_products(summary, recording, [&](const Product& p) {
                  found = found || p.path == path;
                  return success();
                }).ok());
    return found;
  }

  Recording recording;
  Summary summary;
};

std::string line(const std::string& text, std::size_t number) {
  std::size_t at = 0;
  while (number-- > 0) at = text.find('\n', at) + 1;
  return text.substr(at, text.find('\n', at) - at);
}

TEST(Executions, EventsBelongToTheEpochBefore) {
  const SmallRun run;
  const auto executions = executions_of(run.recording);
  ASSERT_EQ(executions.size(), 2u);
  EXPECT_EQ(executions[1].program, "run_fwd");
  EXPECT_EQ(executions[1].graph, "fwd");
  EXPECT_EQ(executions[1].epoch, 3u);
  ASSERT_EQ(executions[1].cores.size(), 2u);
  const CoreRun& a = executions[1].cores[0];
  EXPECT_EQ(a.op->name, "a");
  EXPECT_EQ(a.core->name, "1-2");
  ASSERT_EQ(a.inputs.size(), 2u);
  EXPECT_EQ(a.begin(), SimTime::from_cycles(1010));
  EXPECT_EQ(a.inputs[1].end, SimTime::from_cycles(1100));
  EXPECT_EQ(a.inputs[1].work, SimTime::from_cycles(30));
  EXPECT_EQ(a.in_end, SimTime::from_cycles(1055));
  EXPECT_EQ(a.out_begin, SimTime::from_cycles(1040));
  EXPECT_EQ(executions[1].cores[1].in_begin, executions[1].cores[1].in_end) << "nothing came";
}

TEST(Products, TablesOfEstimatesAndOfTheAnalysis) {
  const SmallRun run;
  EXPECT_EQ(line(run.file("op_perf.csv"), 1), "a, nop, 0, 1x1, 1, 30, 40, 52, 0, 0, 0, 0, 0, 0, 0, 26");
  // A tenth of 200 cycles is waited for what moves: 10 cycles for each input.
  EXPECT_EQ(line(run.file("perf_results/analyzer_results/fwd/graph_perf_report.csv"), 1),
            "0,run_fwd,fwd,a,0->1,\"[1,1]\",60,30,50,80,40,37.5,52,69.333,34.667,34.667");
}

TEST(Products, TreeOfTheBackend) {
  const SmallRun run;
  EXPECT_EQ(run.file("perf_results/perf_info_all_epochs.csv"),
            ",program-name,graph-name,aiclk,device-id,input-count,first-to-last-inputs,num-cycles-per-tensor-all-inputs,"
            "num-tensors-per-second-all-inputs,num-cycles-all-inputs,largest-wait-for-epoch-binary,\n"
            ",run_fwd,fwd,1000,0,2,0->1,50,20000000,200,N/A,\n"
            ",run_fwd,fwd,1000,0,2,0->1,50,20000000,200,N/A,\n");
  const std::string folder = "perf_results/device/0000_run_fwd/0000_fwd/";
  EXPECT_EQ(line(run.file(folder + "runtime_table.csv"), 1), "1-2-a,0,1000,0->1,90,15,33.333,37.5,40,50,20000000,41.6,N/A,20.8");
  for (const char* name : {"runtime_table.json", "perf_postprocess.json", "op_perf_table.json", "cores_to_ops.json"})
    EXPECT_TRUE(io::parse_json(run.file(folder + name), name).ok()) << name;
  EXPECT_EQ(run.file(folder + "cores_to_ops.json"), "{\"1-2\": \"a\", \"2-2\": \"b\"}\n");
}

TEST(Products, LogAndReportOfTheProfiler) {
  const SmallRun run;
  const std::string log = run.file("profile_log_device.csv");
  EXPECT_EQ(line(log, 2), "0, 1, 2, NCRISC, 1, 0");
  EXPECT_EQ(line(log, 3), "0, 1, 2, NCRISC, 2, 2");
  EXPECT_EQ(line(log, 8), "0, 1, 2, BRISC, 3, 110");
  EXPECT_EQ(line(log, 11), "0, 1, 2, TRISC0, 2, 10");
  EXPECT_EQ(line(log, 21), "0, 1, 2, TRISC2, 4, 200");
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 2 + 2 * 2 * 5 * 4);
  EXPECT_FALSE(run.has("profile_zones.csv"));
  const std::string report = run.file("ops_perf_results.csv");
  EXPECT_EQ(std::count(report.begin(), report.end(), '\n'), 1 + 4) << "a row for each op and execution";
  EXPECT_EQ(line(report, 1),
            "nop,tt_dnn_device,1,name=a graph=fwd t=1 mblock=[1 1] ublock=[1 1],,1,grid 1x1,,,,0,200,200,108,70,53,90,90,90,"
            "2,0,0,0,TILE,BFLOAT16,dev_0_l1,2,0,0,0,TILE,BFLOAT8_B,dev_0_l1,1,,,,,,");
}

// Op a works on input 0 from cycle 10 to 50 in the first execution, on input 1 from 60 to 100.
TEST(Products, ZonesOfKernelsAreInTheLog) {
  SmallRun run;
  for (auto& op : run.summary.epochs[0].ops) {
    if (op.name != "a") continue;
    op.marks = {{"outer", 1, false, 0.1}, {"in, ner", 1, false, 0.5}, {"in, ner", 1, true, 0.5}, {"outer", 1, true, 1}};
  }
  const std::string log = run.file("profile_log_device.csv");
  EXPECT_EQ(run.file("profile_zones.csv"), "first marker,last marker,zone\n5,6,\"in, ner\"\n7,8,outer\n");
  const std::size_t at = log.find("TRISC1, 2, 10\n");
  EXPECT_EQ(log.substr(at, log.find("TRISC1, 4", at) - at),
            "TRISC1, 2, 10\n0, 1, 2, TRISC1, 7, 14\n0, 1, 2, TRISC1, 5, 30\n0, 1, 2, TRISC1, 6, 30\n0, 1, 2, TRISC1, 8, 50\n"
            "0, 1, 2, TRISC1, 7, 64\n0, 1, 2, TRISC1, 5, 80\n0, 1, 2, TRISC1, 6, 80\n0, 1, 2, TRISC1, 8, 100\n0, 1, 2, TRISC1, 3, 100\n0, "
            "1, 2, ");
  EXPECT_EQ(log.find("TRISC0, 5"), std::string::npos);
}

TEST(Products, TheTraceIsJsonAndUnpacks) {
  const SmallRun run;
  const std::string packed = run.file("trace.json.gz");
  ASSERT_GT(packed.size(), 20u);
  EXPECT_EQ(packed.substr(4, 4), std::string(4, '\0')) << "no time in the header";
  std::string text(1 << 16, '\0');
  z_stream stream{};
  ASSERT_EQ(inflateInit2(&stream, 16 + 15), Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(text.data());
  stream.avail_out = static_cast<uInt>(text.size());
  ASSERT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  text.resize(text.size() - stream.avail_out);
  inflateEnd(&stream);
  auto trace = io::parse_json(text, "trace.json");
  ASSERT_TRUE(trace.ok());
  std::map<std::string, int> phases;
  for (const auto& event : trace->find("traceEvents")->items()) ++phases[std::string(event.find("ph")->text())];
  EXPECT_EQ(phases["X"], static_cast<int>(run.recording.events().size()));
}

// SmallRun executes its epoch twice.
TEST(Products, OnlyTheLastExecutionOfAGraphHasOps) {
  const SmallRun run;
  const auto node = io::parse_json(run.file("executions.json"), "executions.json");
  ASSERT_TRUE(node.ok());
  const auto file = schema::read<ExecutionsFile>(*node);
  ASSERT_TRUE(file.ok());
  ASSERT_EQ(file->executions.size(), 2u);
  EXPECT_TRUE(file->executions[0].ops.empty());
  const ExecutedEpoch& last = file->executions[1];
  ASSERT_EQ(last.ops.size(), 2u);
  EXPECT_EQ(last.ops[0].name, "a");
  EXPECT_EQ(last.ops[0].cores, 1);
  for (const ExecutedBar& bar : last.ops[0].bars) {
    EXPECT_GE(bar.begin, last.begin);
    EXPECT_LE(bar.end, last.end);
    EXPECT_GT(bar.work, 0);
    EXPECT_LE(bar.work, 1);
  }
}

// Without events there are sums only.
TEST(Products, BelowInputsThereAreNoTablesOfCores) {
  const SmallRun run;
  std::vector<std::string> paths;
  EXPECT_TRUE(write_products(run.summary, Recording(), [&](const Product& p) {
                paths.push_back(p.path);
                return success();
              }).ok());
  EXPECT_EQ(paths, (std::vector<std::string>{"summary.txt", "summary.json", "op_perf.csv",
                                             "perf_results/analyzer_results/fwd/graph_perf_report.csv"}));
}

// A full disk ends the writing with its own error.
TEST(Products, AnErrorOfTheSinkEndsTheWriting) {
  const SmallRun run;
  int files = 0;
  const Result<void> written = write_products(run.summary, run.recording, [&](const Product& p) -> Result<void> {
    if (++files == 7) return input_error("IO002", {p.path}, "no space");
    return success();
  });
  ASSERT_FALSE(written.ok());
  EXPECT_EQ(files, 7);
}

TEST(Products, FieldsWithCommasAreQuoted) {
  EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_field("say \"a\""), "\"say \"\"a\"\"\"");
  EXPECT_EQ(csv_field("plain"), "plain");
  EXPECT_EQ(rounded(1.5), "1.5");
  EXPECT_EQ(rounded(0.12345), "0.123");
  EXPECT_EQ(rounded(2e7, 2), "20000000");
  EXPECT_EQ(rounded(-0.0001), "0");
  EXPECT_EQ(rounded(12345.6, 0), "12346");
}

}  // namespace
}  // namespace buda::perf
