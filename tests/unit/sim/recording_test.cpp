// SPDX-License-Identifier: Apache-2.0
// What a run records: times that add up exactly, at every level the same.
#include <buda/base/rng.hpp>
#include <buda/perf/recording.hpp>
#include <buda/sim/record/run_record.hpp>

#include "unit/pipes/check/random_netlists.hpp"
#include "unit/sim/run_of.hpp"

#include <algorithm>
#include <map>

namespace buda::sim {
namespace {

using perf::Counter;
using perf::EventKind;

struct Recorded {
  Recorded(const RunOf& r, perf::Level level) : entities(recording) {
    auto run = r.start();
    if (!run) return;
    run->record(entities, level);
    auto state = run->advance(kForever);
    if (!state || *state != RunState::ended) return;
    ended = true;
    summary = run->summary();
    run->take_record().tell(recording, 0);
  }
  perf::Recording recording;
  EntityTable entities;
  perf::EpochSummary summary;
  bool ended = false;
};

// Of each kernel the steps and waits follow one another from the beginning of the epoch to the last step without a gap, and add up to the
// counters.
void expect_time_is_conserved(const perf::Recording& recording, const std::string& text) {
  std::map<perf::EntityId, std::vector<perf::Event>> by_kernel;
  for (const perf::Event& e : recording.by_time())
    if (e.kind == EventKind::block || e.kind == EventKind::wait_tiles || e.kind == EventKind::wait_room) by_kernel[e.entity].push_back(e);
  for (const auto& [entity, events] : by_kernel) {
    std::uint64_t at = 0, busy = 0, waits = 0;
    for (const perf::Event& e : events) {
      ASSERT_EQ(e.begin.ticks, at) << recording.entities()[entity.index()].name << '\n' << text;
      (e.kind == EventKind::block ? busy : waits) += e.end.ticks - e.begin.ticks;
      at = e.end.ticks;
    }
    EXPECT_EQ(busy, recording.counter(entity, Counter::busy_ticks));
    EXPECT_EQ(waits, recording.counter(entity, Counter::wait_ticks));
  }
}

TEST(Record, TimeIsConserved) {
  Rng rng(271);
  int built = 0;
  for (int round = 0; built < pipes::netlists_wanted(60) && round < 1000; ++round) {
    const std::string text = pipes::random_netlist(rng, 1, "wormhole_b0");
    const RunOf r(text);
    if (!r.problem.empty()) continue;
    ++built;
    const Recorded all(r, perf::Level::chunks);
    ASSERT_TRUE(all.ended) << text;
    expect_time_is_conserved(all.recording, text);
  }
}

// The parts of the chain of causes are exact, too.
TEST(Record, CausesAddUpToTheEpoch) {
  Rng rng(272);
  for (int round = 0; round < 200; ++round) {
    const RunOf r(pipes::random_netlist(rng, 1, "wormhole_b0"));
    if (!r.problem.empty()) continue;
    const perf::EpochSummary s = r.summary();
    std::uint64_t sum = 0;
    for (const auto& cause : s.causes) sum += cause.time.ticks;
    EXPECT_EQ(sum, s.span.ticks);
    if (s.inputs < 8) {
      EXPECT_EQ(s.span, s.time);
    } else {
      EXPECT_LE(s.span.ticks, s.time.ticks / 4 + 1) << "the end of the pipeline is left out";
    }
  }
}

TEST(Record, LevelsChangeNoTime) {
  RunOf r(two_ops(16));
  ASSERT_EQ(r.problem, "");
  r.cores = FixedCore(300, {{"b", 500}});
  const perf::EpochSummary without = r.summary();
  std::size_t events = 0;
  for (perf::Level level : {perf::Level::counters, perf::Level::inputs, perf::Level::waits, perf::Level::chunks}) {
    const Recorded recorded(r, level);
    ASSERT_TRUE(recorded.ended);
    EXPECT_EQ(recorded.summary.time, without.time);
    EXPECT_EQ(recorded.summary.causes, without.causes);
    EXPECT_GE(recorded.recording.events().size(), events);
    events = recorded.recording.events().size();
    if (level == perf::Level::counters) {
      EXPECT_EQ(events, 0u);
    }
    if (level == perf::Level::inputs) {
      const auto inputs = std::count_if(recorded.recording.events().begin(), recorded.recording.events().end(),
                                        [](const perf::Event& e) { return e.kind == EventKind::input; });
      EXPECT_EQ(inputs, 2 * 16) << "one for each op and input";
    }
  }
}

// Tiles that a kernel waits for are under way for a part of that time; what another kernel has not made yet is not.
TEST(Record, WaitsForKernelsAreNotWaitsForMovement) {
  RunOf r(two_ops(16));
  ASSERT_EQ(r.problem, "");
  r.cores = FixedCore(100, {{"a", 5000}});
  const perf::EpochSummary s = r.summary();
  const auto b = std::find_if(s.ops.begin(), s.ops.end(), [](const auto& op) { return op.name == "b"; });
  ASSERT_NE(b, s.ops.end());
  EXPECT_GT(b->inputs.front().waits, 0.9);
  EXPECT_LT(b->inputs.front().moving, 0.2);
  EXPECT_EQ(b->inputs.front().name, "a");
  EXPECT_FALSE(b->inputs.front().memory);
  EXPECT_EQ(b->inputs.front().bytes, 4u * 2080u);
  EXPECT_TRUE(b->output.memory);
}

TEST(EntityTable, EqualEntitiesAreAddedOnce) {
  perf::Recording recording;
  EntityTable table(recording);
  const perf::Entity core{perf::Entity::Kind::core, "1-1", 0, 0, 0, {}};
  const auto id = table.id(core);
  EXPECT_EQ(table.id(core), id);
  EXPECT_NE(table.id({perf::Entity::Kind::op, "a", 0, 0, 0, id}), id);
  EXPECT_EQ(recording.entities().size(), 2u);
}

}  // namespace
}  // namespace buda::sim
