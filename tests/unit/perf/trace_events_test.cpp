// SPDX-License-Identifier: Apache-2.0
// Events of a device beside those of a host, on the host's clock.
#include <buda/perf/trace_events.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace buda::perf {
namespace {

using ::testing::HasSubstr;

Summary at_one_gigahertz() {
  Summary out;
  out.clock.hz = 1e9;
  return out;
}

TEST(TraceEvents, StandWhereTheAnchorBeforeThemSays) {
  Recording recording;
  const EntityId program = recording.add({.kind = Entity::Kind::program, .name = "p", .chip = -1, .parent = {}});
  for (std::uint64_t cycle : {0u, 2'000u, 5'000u})
    recording.record(
        {.begin = SimTime::from_cycles(cycle), .end = SimTime::from_cycles(cycle + 1'000), .entity = program, .kind = EventKind::epoch});
  const std::string text = trace_events(at_one_gigahertz(), recording, {{SimTime{}, 100}, {SimTime::from_cycles(2'000), 200}}, 7);
  EXPECT_THAT(text, HasSubstr("\"pid\": 7, \"tid\": 1, \"ts\": 100.00000, \"dur\": 1.00000"));
  EXPECT_THAT(text, HasSubstr("\"ts\": 200.00000, \"dur\": 1.00000"));
  EXPECT_THAT(text, HasSubstr("\"ts\": 203.00000, \"dur\": 1.00000"));
  EXPECT_THAT(text, HasSubstr("\"name\": \"process_name\", \"pid\": 7"));
  EXPECT_TRUE(text.ends_with("},\n"));
}

TEST(TraceEvents, WithoutAnchorsTimeBeginsAtZero) {
  Recording recording;
  const EntityId core = recording.add({.kind = Entity::Kind::core, .name = "1-1", .parent = {}});
  recording.record({.begin = SimTime::from_cycles(500), .end = SimTime::from_cycles(501), .entity = core, .kind = EventKind::block});
  EXPECT_THAT(trace_events(at_one_gigahertz(), recording), HasSubstr("\"pid\": 1, \"tid\": 1, \"ts\": 0.50000"));
}

// A program takes 3 microseconds on the chip, and one on the host; what follows waits.
TEST(TraceEvents, AnchorsAreMovedBehindWhatIsBeforeThem) {
  const auto anchors = spaced({{SimTime{}, 10}, {SimTime::from_cycles(3'000), 11}, {SimTime::from_cycles(4'000), 50}}, {1e9});
  ASSERT_EQ(anchors.size(), 3u);
  EXPECT_DOUBLE_EQ(anchors[1].microseconds, 13);
  EXPECT_DOUBLE_EQ(anchors[2].microseconds, 50);
}

}  // namespace
}  // namespace buda::perf
