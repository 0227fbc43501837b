// SPDX-License-Identifier: Apache-2.0
// Flows whose meetings can be reckoned by hand.
#include <buda/cost/contention.hpp>

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace buda::cost {
namespace {

// Of `op`, over one part after the other with so many bytes each.
SharingFlow flow_of(std::size_t op, const std::vector<std::uint32_t>& parts, double bytes) {
  SharingFlow out;
  out.op = op;
  for (std::uint32_t part : parts) out.visits.push_back({{part}, bytes, 0});
  return out;
}

TEST(Contention, AFlowAloneTakesItsSlowestPart) {
  SharingFlow flow;
  flow.visits = {{{0, 1}, 100, 0}, {{1}, 100, 0}};
  const std::vector<double> rates{5, 10}, kernels{0};
  EXPECT_DOUBLE_EQ(contended_times(std::vector{flow}, rates, kernels, 8).front(), 20 + 10);
  EXPECT_TRUE(contended_times({}, rates, kernels, 8).empty());
}

TEST(Contention, FlowsWithNothingElseShareAPartFairly) {
  const std::vector<double> rates{10}, kernels{0, 0, 0};
  std::vector<SharingFlow> flows;
  for (std::size_t op = 0; op < 3; ++op) flows.push_back(flow_of(op, {0}, 1000));
  for (double cycles : contended_times(flows, rates, kernels, 1e6)) EXPECT_NEAR(cycles, 300, 1);
  // Those that are idle for most of the time meet hardly ever.
  const std::vector<double> slow{100000, 100000, 100000};
  for (double cycles : contended_times(flows, rates, slow, 1e6)) EXPECT_NEAR(cycles, 100, 1);
}

// The exact result for N equal customers that visit M equal stations: each meets (N - 1) / M others.
TEST(Contention, ReadersOfManyMemoriesMeetByChance) {
  constexpr std::size_t kReaders = 8, kMemories = 12;
  std::vector<std::uint32_t> memories(kMemories);
  std::iota(memories.begin(), memories.end(), 0);
  const std::vector<double> rates(kMemories, 20), kernels{0};
  const std::vector<SharingFlow> flows(kReaders, flow_of(0, memories, 1000));
  const double alone = 1000.0 / 20 * kMemories, exact = alone * (1 + (kReaders - 1.0) / kMemories);
  for (double cycles : contended_times(flows, rates, kernels, 64)) EXPECT_NEAR(cycles, exact, 0.01 * exact);
}

TEST(Contention, AnswersAreWaitedForWhereOneRequestIsUnderWay) {
  SharingFlow flow = flow_of(0, {0}, 1000);
  flow.visits.front().latency = 600;
  const std::vector<double> rates{10}, kernels{0};
  EXPECT_DOUBLE_EQ(contended_times(std::vector{flow}, rates, kernels, 8).front(), 700);
  flow.transfers = 4;
  EXPECT_DOUBLE_EQ(contended_times(std::vector{flow}, rates, kernels, 8).front(), 175);
  flow.transfers = 8;
  EXPECT_DOUBLE_EQ(contended_times(std::vector{flow}, rates, kernels, 8).front(), 100);
}

TEST(Contention, OpsOfOneInputAreActiveOneAfterTheOther) {
  const std::vector<double> rates{10}, kernels{1000, 1000};
  const std::vector<SharingFlow> flows{flow_of(0, {0}, 5000), flow_of(1, {0}, 5000)};
  const double one = contended_times(flows, rates, kernels, 1).front(), many = contended_times(flows, rates, kernels, 1e6).front();
  EXPECT_GT(many, 1.2 * one);
  // What lies between inputs leaves them more time, too.
  EXPECT_LT(contended_times(flows, rates, kernels, 1e6, 100000).front(), 505);
}

}  // namespace
}  // namespace buda::cost
