// SPDX-License-Identifier: Apache-2.0
// Texts of summaries.
#include <buda/perf/summary.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace buda::perf {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(Summary, SaysThroughputAndLimits) {
  Summary s;
  s.clock.hz = 1e9;
  s.time = SimTime::from_cycles(2'000'000);
  s.inputs = 128;
  EpochSummary epoch;
  epoch.graph = "fwd";
  epoch.executions = 2;
  epoch.inputs = 64;
  epoch.total = s.time;
  epoch.switching = SimTime::from_cycles(30'000);
  epoch.time = SimTime::from_cycles(1'000'000);
  epoch.period = SimTime::from_cycles(15'000);
  epoch.first_input = SimTime::from_cycles(40'000);
  epoch.span = SimTime::from_cycles(250'000);
  auto cause = [](const char* what, double share) {
    EpochSummary::Cause out;
    out.what = what;
    out.share = share;
    return out;
  };
  epoch.causes = {cause("kernel of 'exp'", 0.9), cause("latency of the networks", 0.09), cause("reads", 0.01)};
  epoch.advice = {"--set 'op.exp.grid=[4,2]' predicts 8000 cycles per input"};
  EpochSummary::Op add, exp;
  add.name = "add";
  add.cores = 1;
  add.busy = 0.25;
  add.inputs.resize(2);
  add.inputs[0].waits = 0.5;
  add.kernel = SimTime::from_cycles(10);
  exp.name = "exp";
  exp.cores = 2;
  exp.busy = 0.9;
  exp.output.waits = 0.05;
  exp.kernel = SimTime::from_cycles(14'000);
  exp.estimate = 13'900;
  exp.limiter = 14'100;
  epoch.ops = {add, exp};
  epoch.loads = {{"NoC 0 1-1>2-1", 0.25, 8192}, {"DRAM 3 lower half", 0.125, 4096}};
  epoch.math_utilisation = 0.5;
  s.epochs = {epoch};
  EXPECT_EQ(
      summary_text(s),
      "128 inputs in 2000000 cycles at 1.00 GHz: 64000 inputs/s; latency 40.0 us; epoch switches 30000 cycles (1.5 %)\n"
      "longest epoch: 0 'fwd', 100 % of the time, limited by kernel of 'exp' (90 %)\n"
      "\nepoch 0 'fwd': 1000000 cycles for 64 inputs, the first after 40000, then one every 15000; executed 2 times, 100 % of the "
      "time\n"
      "  limited by (critical path of 250000 cycles)\n"
      "    90 %  kernel of 'exp'\n"
      "    9.0 %  latency of the networks\n"
      "    1.0 %  other\n"
      "  to gain: --set 'op.exp.grid=[4,2]' predicts 8000 cycles per input\n"
      "  ops, by utilisation\n"
      "    90 %  'exp' on 2 cores, 14000 cycles per input (balancer: 13900, with transfers 14100); waits 5.0 % for space in its output\n"
      "    25 %  'add' on 1 core, 10 cycles per input; waits 50 % for input 0\n"
      "  utilisation of resources\n"
      "    50 %  math units, of all workers\n"
      "    12 %  DRAM 3 lower half, 4096 bytes\n"
      "    25 %  NoC 0 1-1>2-1, 8192 bytes\n");
}

// Rows of a batch are what users count.
TEST(Summary, CountsRowsOfBatches) {
  Summary s;
  s.clock.hz = 1e9;
  s.time = SimTime::from_cycles(1'000'000);
  s.inputs = 6;
  s.rows = 360;
  EXPECT_EQ(s.samples(), 360);
  EXPECT_DOUBLE_EQ(s.inputs_per_second(), 360'000);
  EXPECT_EQ(summary_text(s), "360 inputs (6 batches) in 1000000 cycles at 1.00 GHz: 360000 inputs/s; latency 0.0 us\n");
  s.padding = 24;
  EXPECT_EQ(summary_text(s),
            "360 inputs (6 batches, filled up with 24 rows of zeros) in 1000000 cycles at 1.00 GHz: 360000 inputs/s; latency 0.0 us\n");
}

// What an epoch takes at a time is a batch then.
TEST(Summary, NamesBatches) {
  Summary s;
  s.clock.hz = 1e9;
  s.time = SimTime::from_cycles(1'000'000);
  s.inputs = 32;
  EpochSummary epoch;
  epoch.graph = "fwd";
  epoch.inputs = 32;
  epoch.advice = {"--microbatch 16 predicts 1094 cycles per input at best, then NoC 0", "--set 'op.exp.grid=[2,1]'"};
  epoch.ops.resize(1);
  epoch.ops[0].name = "exp";
  s.epochs = {epoch};
  EXPECT_THAT(summary_text(s), HasSubstr("0 cycles for 32 inputs"));
  s.set_rows(1000, 24);
  EXPECT_EQ(s.padding, 24);
  EXPECT_EQ(s.epochs[0].advice,
            (std::vector<std::string>{"--microbatch 16 predicts 1094 cycles per batch at best, then NoC 0", "--set 'op.exp.grid=[2,1]'"}));
  EXPECT_THAT(summary_text(s),
              AllOf(HasSubstr("1000 inputs (32 batches"), HasSubstr("0 cycles for 32 batches"), HasSubstr("0 cycles per batch")));
  EXPECT_EQ(s.counted(1), "1 batch");
}

// Each epoch once, the last until it has given the first output.
TEST(Summary, LatencyGoesThroughAllEpochs) {
  Summary s;
  s.epochs.resize(2);
  s.epochs[0].time = SimTime::from_cycles(100);
  s.epochs[0].first_input = SimTime::from_cycles(10);
  s.epochs[1].time = SimTime::from_cycles(200);
  s.epochs[1].first_input = SimTime::from_cycles(30);
  EXPECT_EQ(s.latency(), SimTime::from_cycles(130));
}

}  // namespace
}  // namespace buda::perf
