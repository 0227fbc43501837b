// SPDX-License-Identifier: Apache-2.0
// Chains of causes.
#include <buda/sim/record/actions.hpp>

#include <gtest/gtest.h>

namespace buda::sim {
namespace {

Action action(Ticks begin, Ticks end, std::uint32_t cause) {
  Action a;
  a.begin = begin;
  a.end = end;
  a.cause = cause;
  return a;
}

TEST(Actions, PartsOfAChainAddUpToItsSpan) {
  ActionLog log;
  const auto first = log.add(action(0, 10, kNoAction));
  log.add(action(0, 90, kNoAction));
  const auto second = log.add(action(15, 40, first));
  const auto third = log.add(action(40, 100, second));
  for (Ticks from : {0u, 5u, 12u, 20u, 60u}) {
    Ticks sum = 0;
    for (const Link& link : chain_of(log, third, from)) sum += link.time + link.after;
    EXPECT_EQ(sum, 100 - from) << from;
  }
  const auto chain = chain_of(log, third, 0);
  ASSERT_EQ(chain.size(), 3u);
  EXPECT_EQ(chain[1].time, 25u);
  EXPECT_EQ(chain[1].after, 5u);
}

TEST(Actions, OldOnesAreForgotten) {
  ActionLog log(4);
  std::uint32_t last = kNoAction;
  for (Ticks t = 0; t < 10; ++t) last = log.add(action(t, t + 1, last));
  EXPECT_EQ(log.find(5), nullptr);
  ASSERT_NE(log.find(6), nullptr);
  EXPECT_EQ(log.find(6)->begin, 6u);
  EXPECT_EQ(log.find(10), nullptr);
  EXPECT_EQ(chain_of(log, last, 0).size(), 4u);
}

}  // namespace
}  // namespace buda::sim
