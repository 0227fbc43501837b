// SPDX-License-Identifier: Apache-2.0
// What devices do that leave the rest to the base class.
#include "fixture.hpp"

#include <buda/perf/recording.hpp>
#include <buda/plugin/loader.hpp>

#include <gmock/gmock.h>

namespace buda::runtime::test {
namespace {

using testing::HasSubstr;

// Stops in a given state.
class StoppingDevice final : public Device {
 public:
  explicit StoppingDevice(Progress progress) : progress_(std::move(progress)) {}
  Result<void> push(const std::string&, const Tensor&) override { return success(); }
  Result<void> write(const std::string&, std::int64_t, const Tensor&) override { return success(); }
  Result<Tensor> pop(const std::string&, std::int64_t) override { return Tensor(); }
  Result<std::int64_t> waiting(const std::string&) override { return 0; }
  Result<Tensor> read(const std::string&, std::int64_t, std::int64_t) override { return Tensor(); }
  Result<void> start(const std::string& program, const Parameters&) override {
    if (program != "main") return input_error("STOP", {}, "no such program");
    return success();
  }
  Result<Progress> advance(const Until&) override { return progress_; }

 private:
  Progress progress_;
};

TEST(Device, RunGoesToTheEnd) {
  StoppingDevice device({{}, State::idle, {}, {}});
  EXPECT_TRUE(device.run("main", {}));
  EXPECT_THAT(error_of(device.run("man", {})), HasSubstr("STOP: no such program"));
}

TEST(Device, RunFailsWhereTheProgramWaits) {
  for (State state : {State::needs_host, State::hung}) {
    StoppingDevice device({{}, state, {}, {{Wait::For::push, "q", 1, input_error("WAIT", {}, "queue 'q' is empty")}}});
    EXPECT_EQ(error_of(device.run("main", {})), "WAIT: queue 'q' is empty\n");
  }
}

TEST(Device, WithoutAdvanceEverythingIsDoneByStart) {
  std::vector<std::string> calls;
  const netlist::Netlist netlist = parsed(netlist_text());
  FakeDevice device(netlist, calls);
  ASSERT_TRUE(device.push("q_x", tile(2)));
  ASSERT_TRUE(device.start("run_fwd", {{"$p_loop_count", 1}}));
  EXPECT_EQ(*device.waiting("q_y"), 1);
  auto progress = device.advance(Until::idle());
  ASSERT_TRUE(progress);
  EXPECT_EQ(progress->state, State::idle);
  perf::Recording recording;
  EXPECT_FALSE(device.record(recording, perf::Level::counters));
  EXPECT_FALSE(device.clock());
}

// The example of a target, as the tools load it: authors of others begin with it.
TEST(ExampleTarget, RefusesQueuesThatDoNotExistOrHaveTooLittle) {
  auto files = io::make_real_file_system();
  CollectingSink sink;
  Host host(*files, sink);
  plugin::Registries loaded;
  ASSERT_TRUE(plugin::load_plugin(PLUGIN_DIR "/target_example.so", loaded, host));
  auto target = plugin::make(loaded, loaded.targets, plugin::Kind::target, "dry_run", {}, host);
  ASSERT_TRUE(target) << error_of(target);
  Program program;
  program.netlist = parsed(netlist_text());
  auto device = (*target)->open(program, {}, host);
  ASSERT_TRUE(device) << error_of(device);
  EXPECT_EQ(error_of((*device)->waiting("nobody")), "DR001: the netlist has no queue named 'nobody'\n");
  EXPECT_EQ(error_of((*device)->pop("q_y", 1)), "DR003: queue 'q_y' has fewer than 1 entries\n");
}

}  // namespace
}  // namespace buda::runtime::test
