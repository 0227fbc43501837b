// SPDX-License-Identifier: Apache-2.0
// The model of sensors, and files that nobody wrote for us.
#include "unit/telemetry/a_device.hpp"

#include <buda/io/json.hpp>
#include <buda/telemetry/sensors.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace buda::telemetry {
namespace {

using ::testing::HasSubstr;

Result<Telemetry> read_changed(const std::function<void(Telemetry&)>& change) {
  Telemetry t = idle_device(a_device());
  change(t);
  return parse_telemetry(io::json_line(schema::write(t)), "t.json");
}

std::string message_of(const Result<Telemetry>& result) { return result ? "" : result.failure().diagnostics()[0].message; }

TEST(Sensors, IdleAndFullLoad) {
  const Readings idle = readings_of(a_device(), 0, 0), full = readings_of(a_device(), 1, 10);
  EXPECT_DOUBLE_EQ(idle.core_watts, 10 + 2 * 0.15);
  EXPECT_DOUBLE_EQ(full.core_watts, 10 + 2 * (0.15 + 0.95) + 0.56);
  EXPECT_DOUBLE_EQ(full.core_amps, full.core_watts / 0.8);
  EXPECT_DOUBLE_EQ(full.core_celsius, 70);
  EXPECT_DOUBLE_EQ(full.core_watts, limits_of(a_device()).core_watts);
  EXPECT_LT(idle.core_celsius, full.core_celsius);
  EXPECT_EQ(full.aiclk_mhz, 1000);
}

TEST(TelemetryFile, ReadsWhatIsWritten) {
  auto same = read_changed([](Telemetry&) {});
  ASSERT_TRUE(same);
  EXPECT_EQ(*same, idle_device(a_device()));
}

TEST(TelemetryFile, ValuesThatNoDeviceHasAreRefused) {
  EXPECT_THAT(message_of(read_changed([](Telemetry& t) { t.chips[1].now->utilisation[0] = 1.5; })),
              HasSubstr("chip 1: a core's utilisation"));
  EXPECT_THAT(message_of(read_changed([](Telemetry& t) { t.chips[1].now->utilisation.clear(); })), HasSubstr("utilisation of 0"));
  EXPECT_THAT(message_of(read_changed([](Telemetry& t) { t.chips[0].grid = {1 << 30, 1 << 30}; })), HasSubstr("between 0 and 4096"));
  EXPECT_THAT(message_of(read_changed([](Telemetry& t) { t.chips[0].id = -1; })), HasSubstr("between 0 and 4096"));
  EXPECT_THAT(message_of(read_changed([](Telemetry& t) { t.chips[0].now->readings.core_watts = 1e300; })), HasSubstr("reading is beyond"));
  EXPECT_THAT(message_of(read_changed([](Telemetry& t) { t.chips[0].limits.core_amps = -1e300; })), HasSubstr("figure is beyond"));
  EXPECT_THAT(message_of(read_changed([](Telemetry& t) { t.clock_hz = -1; })), HasSubstr("clock"));
  EXPECT_THAT(message_of(read_changed([](Telemetry& t) { t.chips.resize(5000); })), HasSubstr("5000 chips"));
}

}  // namespace
}  // namespace buda::telemetry
