// SPDX-License-Identifier: Apache-2.0
// Programs unrolled: epochs, the slots they use, allocations and pops; and the counts made of them.
#include <buda/base/text.hpp>
#include <buda/netlist/program/plan.hpp>
#include <buda/netlist/program/stats.hpp>

#include "unit/netlist/samples.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace buda::netlist {
namespace {

using samples::kSmall;
using samples::parsed;
using samples::replaced;
using ::testing::ElementsAre;

// A line per step: "0 fwd a:0+1 w:0+0 >out:0+1", "pop a 2", "allocate a".
Result<std::vector<std::string>> steps(const Netlist& n, const PlanOptions& options = {}) {
  std::vector<std::string> out;
  BUDA_TRY(plan_programs(n, options, [&](const PlanStep& s) {
    const std::string& queue = n.queues[s.queue].name;
    if (s.kind == PlanStep::Kind::pop) {
      out.push_back(cat("pop ", queue, ' ', s.pointer));
    } else if (s.kind != PlanStep::Kind::execute) {
      out.push_back(cat(s.kind == PlanStep::Kind::allocate ? "allocate " : "deallocate ", queue));
    } else {
      std::string line = cat(s.epoch, ' ', n.graphs[s.graph].name);
      for (const auto& a : s.accesses) {
        const Queue& q = n.queues[a.queue];
        line += cat(a.writes ? " >" : " ", q.name, ':', a.slot(0, q.entries), '+', a.step);
      }
      out.push_back(line);
    }
    return success();
  }));
  return out;
}

TEST(PlanPrograms, FollowsPointersAroundTheQueue) {
  auto found = steps(parsed(kSmall), {{}, {{"p_loops", 3}}});
  ASSERT_TRUE(found.ok());
  EXPECT_THAT(*found, ElementsAre("0 fwd a:0+1 w:0+0 >out:0+1", "pop a 2", "1 fwd a:2+1 w:0+0 >out:2+1", "pop a 4",
                                  "2 fwd a:0+1 w:0+0 >out:0+1", "pop a 6"));
}

TEST(PlanPrograms, AllocationBeginsAQueueAnew) {
  std::string text = replaced(kSmall, "      - loop: $p_loops\n", "      - loop: $p_loops\n      - allocate_queue: [out]\n");
  auto found = steps(parsed(text), {{"run"}, {{"$p_loops", 2}}});
  ASSERT_TRUE(found.ok());
  EXPECT_THAT(*found, ElementsAre("allocate out", "0 fwd a:0+1 w:0+0 >out:0+1", "pop a 2", "allocate out", "1 fwd a:2+1 w:0+0 >out:0+1",
                                  "pop a 4"));
}

TEST(PlanPrograms, TakesKnownNamesOnly) {
  auto program = steps(parsed(kSmall), {{"walk"}, {}});
  ASSERT_FALSE(program.ok());
  EXPECT_EQ(program.failure().diagnostics()[0].code, "NL611");
  auto parameter = steps(parsed(kSmall), {{}, {{"loops", 2}}});
  ASSERT_FALSE(parameter.ok());
  EXPECT_EQ(parameter.failure().diagnostics()[0].code, "NL609");
}

TEST(PlanPrograms, EndWhenNobodyTakesMore) {
  std::size_t taken = 0;
  auto done = plan_programs(parsed(kSmall), {{}, {{"p_loops", 1000}}}, [&](const PlanStep&) -> Result<void> {
    if (++taken == 5) return input_error("X001", {}, "enough");
    return success();
  });
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.failure().diagnostics()[0].code, "X001");
  EXPECT_LE(taken, 6u);
}

TEST(NetlistStats, CountWhatThereIs) {
  const NetlistStats s = stats_of(parsed(kSmall));
  EXPECT_EQ(s.queues, 2u);
  EXPECT_EQ(s.rams, 1u);
  EXPECT_EQ(s.host_fed, 2u);
  EXPECT_EQ(s.dram_bytes, 32u + 4 * 8 * 2080 + 32 + 8 * 1120);
  EXPECT_EQ(s.host_bytes, 32u + 4 * 4 * 2080);
  EXPECT_EQ(s.by_type.at("matmul").ops, 1u);
  EXPECT_EQ(s.by_type.at("exp").tiles, 4);
  EXPECT_EQ(s.by_format.at("Float16_b").outputs, 2u);
  EXPECT_EQ(s.executes, 1u);
  EXPECT_EQ(s.epochs, 1);
  EXPECT_EQ(s.different_epochs, 1);
  EXPECT_EQ(stats_of(parsed(replaced(kSmall, "[$l, incwrap, $c_inputs, 8]", "[$l, incwrap, $c_inputs, 0]"))).epochs, -1);
}

}  // namespace
}  // namespace buda::netlist
