// SPDX-License-Identifier: Apache-2.0
// Hints of what makes an epoch faster, and what they predict.
#include <buda/timed/advice.hpp>

#include <gtest/gtest.h>

namespace buda::timed {
namespace {

using perf::EpochSummary;
using perf::SimTime;

constexpr GridShape kWorkers{8, 8};

EpochSummary::Op op_of(const char* name, std::uint64_t cycles) {
  EpochSummary::Op out;
  out.name = name;
  out.type = "exp";
  out.grid = {1, 1};
  out.t = out.ublock_r = out.ublock_c = 1;
  out.mblock_m = out.mblock_n = 2;
  out.kernel = SimTime::from_cycles(cycles);
  return out;
}

// 64 inputs, one every 1000 cycles, of which the kernel of 'exp' causes `share`.
EpochSummary limited_by_exp(double share) {
  EpochSummary out;
  out.inputs = 64;
  out.time = SimTime::from_cycles(64'000);
  out.period = SimTime::from_cycles(1'000);
  out.ops = {op_of("add", 300), op_of("exp", 900)};
  EpochSummary::Cause cause;
  cause.kind = EpochSummary::Cause::Kind::kernel;
  cause.op = "exp";
  cause.share = share;
  out.causes = {cause};
  return out;
}

using Hints = std::vector<std::string>;

TEST(Advice, MoreCoresTakeHalfOfTheKernelsShare) {
  EXPECT_EQ(advice_for(limited_by_exp(0.8), kWorkers), Hints{"--set 'op.exp.grid=[2,1]' predicts 600 cycles per input"});
}

TEST(Advice, AnotherKernelBoundsTheGain) {
  EpochSummary epoch = limited_by_exp(0.8);
  epoch.ops[0].kernel = SimTime::from_cycles(850);
  EXPECT_EQ(advice_for(epoch, kWorkers), Hints{"--set 'op.exp.grid=[2,1]' predicts 850 cycles per input, then kernel of 'add'"});
  epoch.ops[0].kernel = SimTime::from_cycles(980);
  EXPECT_EQ(advice_for(epoch, kWorkers), Hints{}) << "two kernels that are equally slow";
}

TEST(Advice, ABusyLinkBoundsTheGain) {
  EpochSummary epoch = limited_by_exp(0.8);
  epoch.loads = {{"NoC 0 1-1>2-1", 0.75, 0}};
  EXPECT_EQ(advice_for(epoch, kWorkers), Hints{"--set 'op.exp.grid=[2,1]' predicts 750 cycles per input, then NoC 0 1-1>2-1"});
}

TEST(Advice, GridsGrowWhereTheBlockCanBeHalvedAndTheChipHasRoom) {
  EpochSummary columns = limited_by_exp(0.8);
  columns.ops[1].mblock_m = 1;
  EXPECT_EQ(advice_for(columns, kWorkers), Hints{"--set 'op.exp.grid=[1,2]' predicts 600 cycles per input"});
  EXPECT_EQ(advice_for(limited_by_exp(0.8), {1, 8}), Hints{"--set 'op.exp.grid=[1,2]' predicts 600 cycles per input"});
  EXPECT_EQ(advice_for(limited_by_exp(0.8), {1, 1}), Hints{});
  columns.ops[1].mblock_n = 1;
  EXPECT_EQ(advice_for(columns, kWorkers), Hints{});
}

TEST(Advice, GridsGrowToADivisorOfTheTensorsTiles) {
  EpochSummary epoch = limited_by_exp(0.8);
  auto& op = epoch.ops[1];
  op.grid = {4, 6};
  op.cores = 24;
  op.mblock_m = 1;
  op.mblock_n = 1;
  op.ublock_c = 4;
  // 4 x 24 tiles: 8 columns; 12 are more than the chip has.
  EXPECT_EQ(advice_for(epoch, kWorkers), Hints{"--set 'op.exp.grid=[4,8]' predicts 800 cycles per input"});
}

TEST(Advice, GridsGrowIntoIdleCoresOnly) {
  EpochSummary epoch = limited_by_exp(0.8);
  epoch.ops[0].cores = 63;
  epoch.ops[1].cores = 1;
  EXPECT_EQ(advice_for(epoch, kWorkers), Hints{});
  EXPECT_EQ(advice_for(epoch, kWorkers, 2), Hints{"--set 'op.exp.grid=[2,1]' predicts 600 cycles per input"});
  epoch.ops[0].cores = 62;
  EXPECT_EQ(advice_for(epoch, kWorkers), Hints{"--set 'op.exp.grid=[2,1]' predicts 600 cycles per input"});
}

TEST(Advice, OnlyKernelsThatMatterGetMoreCores) {
  EXPECT_EQ(advice_for(limited_by_exp(0.05), kWorkers), Hints{});
  EpochSummary sends = limited_by_exp(0.8);
  sends.causes[0].kind = EpochSummary::Cause::Kind::send;
  EXPECT_EQ(advice_for(sends, kWorkers), Hints{});
  sends.causes.clear();
  EXPECT_EQ(advice_for(sends, kWorkers), Hints{});
}

// (4000 + 15 * 900) / 16
TEST(Advice, OneInputAloneLeavesMostOfTheChipIdle) {
  EpochSummary epoch = limited_by_exp(0.05);
  epoch.inputs = 1;
  epoch.time = epoch.period = epoch.first_input = SimTime::from_cycles(4'000);
  EXPECT_EQ(advice_for(epoch, kWorkers), Hints{"--microbatch 16 predicts 1094 cycles per input at best, then kernel of 'exp'"});
  epoch.ops[1].kernel = SimTime::from_cycles(3'900);
  EXPECT_EQ(advice_for(epoch, kWorkers), Hints{});
}

}  // namespace
}  // namespace buda::timed
