// SPDX-License-Identifier: Apache-2.0
// Pointers of queues.
#include <buda/timed/queue_pointers.hpp>

#include <gtest/gtest.h>

namespace buda::timed {
namespace {

TEST(QueuePointers, FullAndEmptyDiffer) {
  netlist::Queue queue;
  queue.entries = 4;
  QueuePointers p(queue);
  EXPECT_EQ(p.occupancy(), 0);
  EXPECT_EQ(p.room(), 4);
  p.append(4);
  EXPECT_EQ(p.occupancy(), 4);
  EXPECT_EQ(p.room(), 0);
  p.drop(3);
  p.append(3);
  EXPECT_EQ(p.occupancy(), 4);
  EXPECT_EQ(p.write_pointer(), 7);
  p.drop(4);
  p.append(1);
  EXPECT_EQ(p.write_pointer(), 0) << "after 2 * entries";
  EXPECT_EQ(p.occupancy(), 1);
  EXPECT_EQ(p.from(-1), 1) << "pointers from outside are taken modulo their range";
  EXPECT_EQ(p.from(1), 7) << "ahead of the writer";
  p.clear();
  EXPECT_EQ(p.occupancy(), 0);
}

TEST(QueuePointers, AQueueWithoutEntriesHoldsNothing) {
  const netlist::Queue queue;
  QueuePointers p(queue);
  p.append(1);
  EXPECT_EQ(p.occupancy(), 0);
  EXPECT_EQ(p.room(), 0);
}

}  // namespace
}  // namespace buda::timed
