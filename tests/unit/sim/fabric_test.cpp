// Shares of what transfers pass through.
#include <buda/sim/fabric.hpp>

#include <gtest/gtest.h>

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
  EXPECT_NEAR(cycles(fabric.start(path, 1000).duration), 100, 0.2);
  const auto second = fabric.start(both, 1000);
  EXPECT_NEAR(cycles(second.duration), 200, 0.2) << "half of the link, less than all of the other";
  EXPECT_EQ(second.slowest, link);
  EXPECT_EQ(second.sharing, 2u);
  fabric.end(path, 1000);
  fabric.end(both, 1000);
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

}  // namespace
}  // namespace buda::sim
