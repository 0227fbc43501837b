// SPDX-License-Identifier: Apache-2.0
// The order of events.
#include <buda/base/rng.hpp>
#include <buda/sim/time/event_queue.hpp>

#include <gtest/gtest.h>

#include <tuple>
#include <vector>

namespace buda::sim {
namespace {

TEST(EventQueue, EarliestFirstThenLowestEntityThenFirstAdded) {
  EventQueue queue;
  queue.add(20, EventKind::sent, 1, 0);
  queue.add(10, EventKind::sent, 2, 1);
  queue.add(10, EventKind::room, 1, 2);
  queue.add(10, EventKind::stepped, 1, 3);
  EXPECT_EQ(queue.next_time(), 10u);
  std::vector<std::uint32_t> causes;
  while (!queue.empty()) causes.push_back(queue.take().cause);
  EXPECT_EQ(causes, (std::vector<std::uint32_t>{2, 3, 1, 0}));
  EXPECT_EQ(queue.taken(), 4u);
  EXPECT_EQ(queue.next_time(), kForever);
}

TEST(EventQueue, RandomEventsComeSorted) {
  Rng rng(3);
  EventQueue queue;
  for (std::uint32_t i = 0; i < 1000; ++i)
    queue.add(static_cast<Ticks>(rng.below(50)), EventKind::sent, static_cast<std::uint32_t>(rng.below(4)), i);
  auto key = [](const Event& e) { return std::tuple(e.time, e.entity, e.sequence); };
  Event last = queue.take();
  while (!queue.empty()) {
    const Event next = queue.take();
    EXPECT_LT(key(last), key(next));
    last = next;
  }
}

}  // namespace
}  // namespace buda::sim
