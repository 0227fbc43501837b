// SPDX-License-Identifier: Apache-2.0
// The host's transfers.
#include <buda/timed/host_link.hpp>

#include <gtest/gtest.h>

namespace buda::timed {
namespace {

TEST(HostLink, TransfersOfADirectionFollowOneAnother) {
  HostLink link(10);
  EXPECT_TRUE(link.takes_time());
  EXPECT_FALSE(link.next());
  link.push(3, 2, 1000, sim::ticks_of(50));
  link.pop(4, 1, 500, sim::ticks_of(50));
  EXPECT_EQ(link.pushing(3), 2);
  EXPECT_EQ(link.popping(4), 1);
  ASSERT_TRUE(link.next());
  EXPECT_EQ(*link.next(), sim::ticks_of(100));
  HostLink::Transfer transfer = link.take();
  EXPECT_TRUE(transfer.pops);
  EXPECT_EQ(transfer.queue, 4u);
  EXPECT_FALSE(link.pops());
  transfer = link.take();
  EXPECT_EQ(transfer.end, sim::ticks_of(150));
  transfer = link.take();
  EXPECT_EQ(transfer.begin, sim::ticks_of(150));
  EXPECT_EQ(transfer.end, sim::ticks_of(250));
  EXPECT_EQ(link.pushing(3), 0);
}

}  // namespace
}  // namespace buda::timed
