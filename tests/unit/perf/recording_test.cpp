// SPDX-License-Identifier: Apache-2.0
// Events, entities and counters in memory.
#include <buda/perf/recording.hpp>

#include <gtest/gtest.h>

namespace buda::perf {
namespace {

Event event(std::uint64_t begin, std::uint64_t end, std::uint32_t entity, std::uint16_t lane, std::uint32_t a) {
  return {{begin}, {end}, EntityId(entity), EventKind::input, lane, a, 0};
}

TEST(SimTime, CountsSixteenthsOfCycles) {
  EXPECT_EQ(SimTime::from_cycles(3).ticks, 48u);
  EXPECT_DOUBLE_EQ(SimTime{24}.cycles(), 1.5);
  EXPECT_LT(SimTime{15}, SimTime::from_cycles(1));
  EXPECT_DOUBLE_EQ(Clock{1e9}.seconds(SimTime::from_cycles(2000)), 2e-6);
}

TEST(Recording, EntitiesAreNumberedInTheOrderOfTheirComing) {
  Recording r;
  const EntityId core = r.add({Entity::Kind::core, "", 0, 2, 3, {}});
  const EntityId op = r.add({Entity::Kind::op, "exp", 0, 2, 3, core});
  EXPECT_EQ(core.index(), 0u);
  ASSERT_EQ(r.entities().size(), 2u);
  EXPECT_EQ(r.entities()[op.index()].name, "exp");
  EXPECT_EQ(r.entities()[op.index()].parent, core);
}

TEST(Recording, TimeOrderIsStable) {
  Recording r;
  r.record(event(20, 30, 0, 0, 1));
  r.record(event(10, 40, 1, 1, 2));
  r.record(event(10, 40, 1, 0, 3));
  r.record(event(10, 40, 1, 0, 4));
  r.record(event(10, 15, 2, 0, 5));
  std::vector<std::uint32_t> order;
  for (const Event& e : r.by_time()) order.push_back(e.a);
  EXPECT_EQ(order, (std::vector<std::uint32_t>{5, 3, 4, 2, 1}));
  EXPECT_EQ(r.events().front().a, 1u);
}

TEST(Recording, CountersAddUpPerEntityAndKind) {
  Recording r;
  r.count(EntityId(7), Counter::bytes, 2080);
  r.count(EntityId(7), Counter::bytes, 2080);
  r.count(EntityId(7), Counter::tiles, 2);
  EXPECT_EQ(r.counter(EntityId(7), Counter::bytes), 4160u);
  EXPECT_EQ(r.counter(EntityId(7), Counter::tiles), 2u);
  EXPECT_EQ(r.counter(EntityId(8), Counter::bytes), 0u);
}

}  // namespace
}  // namespace buda::perf
