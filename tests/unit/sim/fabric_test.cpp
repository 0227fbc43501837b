// SPDX-License-Identifier: Apache-2.0
// Shares of what transfers pass through.
#include <buda/sim/network/fabric.hpp>

#include <buda/base/rng.hpp>
#include <buda/sim/time/event_queue.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace buda::sim {
namespace {

double cycles(Ticks ticks) { return static_cast<double>(ticks) / static_cast<double>(perf::SimTime::kPerCycle); }

TEST(Fabric, TheSlowestPartOfAPathDecides) {
  Fabric fabric;
  const ResourceId fast = fabric.add("fast", 32), slow = fabric.add("slow", 10);
  const auto started = fabric.start({{fast, slow}, 0}, 1000, 0);
  EXPECT_NEAR(cycles(started.duration), 100, 0.2);
  EXPECT_EQ(started.slowest, slow);
  EXPECT_EQ(started.sharing, 1u);
}

TEST(Fabric, SharesAreTakenAtTheStart) {
  Fabric fabric;
  const ResourceId link = fabric.add("link", 10), other = fabric.add("other", 8);
  const Path path{{link}, 0}, both{{link, other}, 0};
  const auto first = fabric.start(path, 1000, 0);
  EXPECT_NEAR(cycles(first.duration), 100, 0.2);
  const auto second = fabric.start(both, 1000, 0);
  EXPECT_NEAR(cycles(second.duration), 200, 0.2) << "half of the link, less than all of the other";
  EXPECT_EQ(second.slowest, link);
  EXPECT_EQ(second.sharing, 2u);
  fabric.end(path, 1000, first);
  fabric.end(both, 1000, second);
  EXPECT_NEAR(cycles(fabric.start(both, 1000, ticks_of(300)).duration), 125, 0.2);
  EXPECT_EQ(fabric.resources()[link].bytes, 3000u);
  EXPECT_NEAR(fabric.utilisation(link, ticks_of(600)), 0.5, 1e-4);
}

// A large transfer among small ones goes on when they are done: it takes no longer than the bytes of all of them.
TEST(Fabric, SmallTransfersDoNotHoldUpALargeOne) {
  Fabric fabric;
  const Path path{{fabric.add("link", 10)}, 0};
  for (int i = 0; i < 99; ++i) fabric.start(path, 10, 0);
  const auto large = fabric.start(path, 10'000, 0);
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
    const auto first = fabric.start(held, 1000, 0);
    EXPECT_NEAR(cycles(first.duration), 100, 0.2);
    const auto behind = fabric.start(other, 1000, 0);
    EXPECT_NEAR(cycles(behind.duration), std::max(20 + waiting, 25.0), 0.4);
    fabric.end(other, 1000, behind);
    const auto same = fabric.start(held, 1000, 0);
    EXPECT_NEAR(cycles(same.duration), 200, 0.4) << "waits for the memory anyway";
    fabric.end(held, 1000, same);
    EXPECT_NEAR(cycles(fabric.start(none, 1000, 0).duration), 25, 0.2) << "does not pass the link";
    fabric.end(held, 1000, first);
    EXPECT_TRUE(fabric.resources()[link].held[0].empty() && fabric.resources()[link].held[1].empty());
  }
}

// Streams that send one transfer after the other, and the bytes that a resource transfers in any ten thousand cycles.
class Streams {
 public:
  explicit Streams(Fabric& fabric) : fabric_(fabric) {}
  void add(Path path, std::uint64_t bytes) { all_.push_back({std::move(path), bytes, {}}); }

  void run(Ticks until) {
    EventQueue events;
    for (std::uint32_t s = 0; s < all_.size(); ++s) events.add(s, EventKind::opened, s, 0);
    while (events.next_time() < until) {
      const Event event = events.take();
      Stream& s = all_[event.entity];
      if (event.kind == EventKind::sent) fabric_.end(s.path, s.bytes, s.started);
      s.started = fabric_.start(s.path, s.bytes, event.time);
      events.add(event.time + s.started.duration, EventKind::sent, event.entity, 0);
      for (ResourceId r : s.path.resources) passed_[r].push_back({event.time, event.time + s.started.duration, s.bytes});
    }
  }

  // Bytes beyond those of the full rate, in the worst window.
  double most_ahead(ResourceId resource, double bytes_per_cycle) const {
    const Ticks window = ticks_of(10'000);
    double most = 0;
    for (const Passed& first : passed_.at(resource)) {
      double bytes = 0;
      for (const Passed& p : passed_.at(resource)) {
        if (p.begin >= first.begin + window) break;
        const Ticks begin = std::max(p.begin, first.begin), end = std::min(p.end, first.begin + window);
        if (begin < end) bytes += static_cast<double>(p.bytes) * static_cast<double>(end - begin) / static_cast<double>(p.end - p.begin);
      }
      most = std::max(most, bytes - 10'000 * bytes_per_cycle);
    }
    return most;
  }
  // A transfer of each stream that passes the resource.
  double one_of_each(ResourceId resource) const {
    double bytes = 0;
    for (const Stream& s : all_)
      if (std::count(s.path.resources.begin(), s.path.resources.end(), resource) != 0) bytes += static_cast<double>(s.bytes);
    return bytes;
  }

 private:
  struct Stream {
    Path path;
    std::uint64_t bytes = 0;
    Fabric::Started started;
  };
  struct Passed {
    Ticks begin = 0, end = 0;
    std::uint64_t bytes = 0;
  };
  Fabric& fabric_;
  std::vector<Stream> all_;
  std::map<ResourceId, std::vector<Passed>> passed_;
};

// A large transfer takes no longer than all that is under way, and the small ones beside it end before it: together they would pass at
// twice the rate.
TEST(Fabric, SmallTransfersBesideALargeOneDoNotPassForFree) {
  Fabric fabric;
  const ResourceId link = fabric.add("link", 30);
  Streams streams(fabric);
  streams.add({{link}, 0}, 16'384);
  for (int i = 0; i < 15; ++i) streams.add({{link}, 0}, 64);
  streams.run(ticks_of(40'000));
  EXPECT_LE(streams.most_ahead(link, 30), 1.1 * streams.one_of_each(link)) << "the window may begin within a transfer";
  EXPECT_GE(fabric.utilisation(link, ticks_of(40'000)), 0.95);
}

TEST(Fabric, NothingIsAheadOfItsRateByMoreThanATransferOfEachStream) {
  Rng rng(9);
  for (int round = 0; round < 6; ++round) {
    Fabric fabric;
    std::vector<std::pair<ResourceId, double>> resources;
    for (int i = 0; i < 6; ++i) {
      const double rate = 5.0 + static_cast<double>(rng.below(40));
      resources.emplace_back(fabric.add("link", rate), rate);
    }
    Streams streams(fabric);
    for (int i = 0; i < 30; ++i) {
      std::set<ResourceId> path;
      for (int n = 0; n < 3; ++n) path.insert(resources[rng.below(6)].first);
      const auto traffic = static_cast<Traffic>(rng.below(3));
      streams.add({{path.begin(), path.end()}, 0, traffic}, std::uint64_t{32} << rng.below(10));
    }
    streams.run(ticks_of(30'000));
    for (const auto& [resource, rate] : resources)
      EXPECT_LE(streams.most_ahead(resource, rate), streams.one_of_each(resource)) << "round " << round;
  }
}

}  // namespace
}  // namespace buda::sim
