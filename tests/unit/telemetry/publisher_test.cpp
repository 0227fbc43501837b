// SPDX-License-Identifier: Apache-2.0
// From counters of executions to a file.
#include "unit/telemetry/a_device.hpp"

#include <buda/diag/sink.hpp>
#include <buda/io/memory_file_system.hpp>
#include <buda/perf/recording.hpp>
#include <buda/telemetry/publisher.hpp>
#include <buda/telemetry/sensors.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace buda::telemetry {
namespace {

using perf::Counter;
using perf::Entity;
using ::testing::ElementsAre;

class PublisherTest : public testing::Test {
 protected:
  Telemetry told() {
    auto bytes = files_.read("t.json");
    EXPECT_TRUE(bytes);
    auto out = parse_telemetry(bytes->view(), "t.json");
    EXPECT_TRUE(out);
    return out ? *out : Telemetry();
  }
  std::unique_ptr<Publisher> begin() {
    auto out = Publisher::begin(idle_device(a_device()), a_device(), "t.json", host_);
    EXPECT_TRUE(out);
    return std::move(out).value();
  }
  // On each core of a chip an op works so many cycles.
  static void execute(perf::Sink& sink, std::int32_t chip, std::uint64_t first, std::uint64_t second, std::uint64_t begin,
                      std::uint64_t end) {
    for (std::int32_t col : {0, 1})
      sink.count(sink.add({Entity::Kind::op, "op", chip, 0, col, {}}), Counter::busy_ticks, (col == 0 ? first : second) * 16);
    sink.count(sink.add({Entity::Kind::dram, chip == 0 ? "DRAM 0.0 lower half" : "DRAM 1.0 upper half", -1, 0, 0, {}}), Counter::bytes,
               500);
    const auto epoch = sink.add({Entity::Kind::program, "fwd", -1, 0, 0, {}});
    sink.record({{begin * 16}, {end * 16}, epoch, perf::EventKind::epoch});
  }

  io::MemoryFileSystem files_;
  CollectingSink diagnostics_;
  Host host_{files_, diagnostics_};
};

TEST_F(PublisherTest, TellsTheLastExecutionAndTheAverage) {
  auto publisher = begin();
  EXPECT_EQ(told().state, State::running);
  EXPECT_FALSE(told().chips[0].now) << "nothing has been measured";
  execute(*publisher, 1, 100, 0, 0, 100);
  execute(*publisher, 1, 0, 150, 100, 400);
  ASSERT_TRUE(publisher->end());
  const Telemetry t = told();
  EXPECT_EQ(t.state, State::ended);
  EXPECT_EQ(t.epoch, "fwd");
  EXPECT_EQ(t.executions, 2);
  EXPECT_EQ(t.cycles.cycles(), 400);
  ASSERT_EQ(t.chips.size(), 2u);
  EXPECT_THAT(t.chips[0].now->utilisation, ElementsAre(0, 0));
  EXPECT_THAT(t.chips[1].now->utilisation, ElementsAre(0, 0.5));
  EXPECT_THAT(t.chips[1].average->utilisation, ElementsAre(0.25, 0.375));
  EXPECT_EQ(t.chips[0].dram_bytes, 0u);
  EXPECT_EQ(t.chips[1].dram_bytes, 1000u);
  EXPECT_DOUBLE_EQ(t.chips[1].now->dram_gbs, 500.0 / 300);
  EXPECT_EQ(t.chips[1].now->readings, readings_of(a_device(), 0.25, 500.0 / 300));
}

TEST_F(PublisherTest, ChipsOfAClusterAreAddedWhenTheyWork) {
  auto publisher = begin();
  execute(*publisher, 3, 10, 10, 0, 10);
  ASSERT_TRUE(publisher->end());
  ASSERT_EQ(told().chips.size(), 4u);
  EXPECT_THAT(told().chips[3].now->utilisation, ElementsAre(1, 1));
}

TEST_F(PublisherTest, AnotherSinkHearsTheSame) {
  perf::Recording alone, behind;
  execute(alone, 0, 1, 2, 0, 10);
  auto publisher = begin();
  publisher->pass_on_to(&behind);
  execute(*publisher, 0, 1, 2, 0, 10);
  EXPECT_EQ(behind.entities(), alone.entities());
  EXPECT_EQ(behind.events(), alone.events());
  EXPECT_EQ(behind.counter(behind.events()[0].entity, Counter::bytes), 0u);
  EXPECT_EQ(behind.counter(perf::EntityId(1), Counter::busy_ticks), 32u);
}

TEST_F(PublisherTest, ARunThatFailsHasEnded) {
  begin().reset();
  EXPECT_EQ(told().state, State::ended);
}

}  // namespace
}  // namespace buda::telemetry
