// Texts of summaries.
#include <buda/perf/summary.hpp>

#include <gtest/gtest.h>

namespace buda::perf {
namespace {

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
  epoch.time = SimTime::from_cycles(1'000'000);
  epoch.period = SimTime::from_cycles(15'000);
  epoch.causes = {{"kernel of 'exp'", 0.9}, {"latency of the networks", 0.09}, {"reads", 0.01}};
  epoch.ops = {{"add", 1, 0.25, 0, {0.5, 0}, SimTime::from_cycles(10)}, {"exp", 2, 0.9, 0.05, {0}, SimTime::from_cycles(14'000)}};
  epoch.loads = {{"DRAM 3", 0.125, 4096}};
  s.epochs = {epoch};
  EXPECT_EQ(summary_text(s),
            "128 inputs in 2000000 cycles at 1.00 GHz: 64000 inputs/s\n"
            "\nepoch 0 'fwd': 1000000 cycles for 64 inputs, 15000 from input to input; executed 2 times, 100 % of the time\n"
            "  limited by\n"
            "    90 %  kernel of 'exp'\n"
            "    9.0 %  latency of the networks\n"
            "    1.0 %  other\n"
            "  ops by the part of the time that their kernels work\n"
            "    90 %  'exp' on 2 cores, 14000 cycles an input; waits 5.0 % for room\n"
            "    25 %  'add' on 1 core, 10 cycles an input; waits 50 % for input 0\n"
            "  most used\n"
            "    12 %  DRAM 3, 4096 bytes\n");
}

}  // namespace
}  // namespace buda::perf
