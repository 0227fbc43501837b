// Shares of what transfers pass through.
#include <buda/sim/fabric.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

namespace buda::sim {
namespace {

double cycles(Ticks ticks) { return static_cast<double>(ticks) / static_cast<double>(perf::SimTime::kPerCycle); }

TEST(Fabric, TheSlowestPartOfAPathDecides) {
  Fabric fabric;
  const ResourceId fast = fabric.add("fast", 32), slow = fabric.add("slow", 10);
  const auto started = fabric.start({{fast, slow}, 0}, 1000);
  EXPECT_NEAR(cycles(started.duration), 100, 0.2);
  EXPECT_EQ(started.slowest, slow);
  EXPECT_EQ(started.sharing, 1u);
}

TEST(Fabric, SharesAreTakenAtTheStart) {
  Fabric fabric;
  const ResourceId link = fabric.add("link", 10), other = fabric.add("other", 8);
  const Path path{{link}, 0}, both{{link, other}, 0};
  const auto first = fabric.start(path, 1000);
  EXPECT_NEAR(cycles(first.duration), 100, 0.2);
  const auto second = fabric.start(both, 1000);
  EXPECT_NEAR(cycles(second.duration), 200, 0.2) << "half of the link, less than all of the other";
  EXPECT_EQ(second.slowest, link);
  EXPECT_EQ(second.sharing, 2u);
  fabric.end(path, 1000, first);
  fabric.end(both, 1000, second);
  EXPECT_NEAR(cycles(fabric.start(both, 1000).duration), 125, 0.2);
  EXPECT_EQ(fabric.resources()[link].bytes, 3000u);
  EXPECT_NEAR(fabric.utilisation(link, ticks_of(600)), 0.5, 1e-4);
}

// A large transfer among small ones goes on when they are done: it takes no longer than the bytes of all of them.
TEST(Fabric, SmallTransfersDoNotHoldUpALargeOne) {
  Fabric fabric;
  const Path path{{fabric.add("link", 10)}, 0};
  for (int i = 0; i < 99; ++i) fabric.start(path, 10);
  const auto large = fabric.start(path, 10'000);
  EXPECT_NEAR(cycles(large.duration), 1099, 0.2);
  EXPECT_EQ(large.sharing, 100u);
}

// What waits for a slow memory keeps others from theirs, on one virtual channel, and now and then on one of several.
TEST(Fabric, TransfersWaitBehindThoseThatAreHeldUp) {
  for (const auto& [traffic, waiting] :
       {std::pair(Traffic::writes, 100.0), std::pair(Traffic::answers, 25.0), std::pair(Traffic::apart, 0.0)}) {
    Fabric fabric;
    const ResourceId link = fabric.add("link", 100), slow = fabric.add("slow", 10), fast = fabric.add("fast", 40);
    const Path held{{link, slow}, 0, traffic}, other{{link, fast}, 0, traffic}, none{{fast}, 0, traffic};
    const auto first = fabric.start(held, 1000);
    EXPECT_NEAR(cycles(first.duration), 100, 0.2);
    const auto behind = fabric.start(other, 1000);
    EXPECT_NEAR(cycles(behind.duration), std::max(20 + waiting, 25.0), 0.4);
    fabric.end(other, 1000, behind);
    const auto same = fabric.start(held, 1000);
    EXPECT_NEAR(cycles(same.duration), 200, 0.4) << "waits for the memory anyway";
    fabric.end(held, 1000, same);
    EXPECT_NEAR(cycles(fabric.start(none, 1000).duration), 25, 0.2) << "does not pass the link";
    fabric.end(held, 1000, first);
    EXPECT_TRUE(fabric.resources()[link].held[0].empty() && fabric.resources()[link].held[1].empty());
  }
}

}  // namespace
}  // namespace buda::sim
