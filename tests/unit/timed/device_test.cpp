// SPDX-License-Identifier: Apache-2.0
// The device: programs, queues, slices of time.
#include <buda/timed/timed_device.hpp>

#include <buda/runtime/streams.hpp>
#include <buda/tensor/tensor.hpp>

#include "unit/sim/run_of.hpp"

#include <algorithm>
#include <random>

namespace buda::timed {
namespace {

using runtime::State;
using runtime::Until;

// Two ops, run $p_loop_count times with two inputs each, from a queue of eight entries into another.
std::string looping() {
  std::string text = sim::two_ops(2);
  const std::string entries = "entries: 4";
  for (std::size_t at = text.find(entries); at != std::string::npos; at = text.find(entries, at + 1))
    text.replace(at, entries.size(), "entries: 8");
  text.resize(text.find("programs:"));
  return text +
         "programs:\n  - p:\n    - param: [$p_loop_count]\n    - var: {$c: 2}\n    - staticvar: [$l, $g]\n    - loop: $p_loop_count\n"
         "    - execute: {graph_name: g, queue_settings: {x: {prologue: false, epilogue: false, zero: false, rd_ptr_local: $l, "
         "rd_ptr_global: $g}}}\n    - varinst: [$g, incwrap, $c, 16]\n    - varinst: [$l, incwrap, $c, 16]\n    - endloop\n";
}

struct Opened {
  explicit Opened(DeviceOptions options = {}, const std::string& text = looping()) {
    const auto& board = pipes::shipped("wormhole_b0");
    auto parsed = netlist::parse_netlist(text, "net.yaml", {board.arch});
    EXPECT_TRUE(parsed.ok()) << pipes::messages(parsed.failure());
    if (!parsed) return;
    program.netlist = std::move(*parsed);
    auto complete = runtime::complete_program(program, {.streams = true}, {}, board, pipes::source_host());
    EXPECT_TRUE(complete.ok()) << pipes::messages(complete.failure());
    auto made = TimedDevice::make(program, board, options, pipes::source_host());
    EXPECT_TRUE(made.ok());
    if (made) device = std::move(*made);
  }
  void push(std::int64_t entries) {
    auto pushed = device->push("x", *Tensor::zeros(DType::f32, Shape{entries, 1, 64, 64}));
    EXPECT_TRUE(pushed.ok()) << pipes::messages(pushed.failure());
  }

  runtime::Program program;
  std::unique_ptr<TimedDevice> device;
};

TEST(TimedDevice, ExecutionsThatBeginAlikeTakeTheSameTime) {
  Opened o;
  ASSERT_NE(o.device, nullptr);
  o.push(8);
  auto done = o.device->run("p", {{"$p_loop_count", 4}});
  ASSERT_TRUE(done.ok()) << pipes::messages(done.failure());
  const auto summary = o.device->summary();
  ASSERT_TRUE(summary);
  ASSERT_EQ(summary->epochs.size(), 1u);
  EXPECT_EQ(summary->inputs, 8);
  EXPECT_EQ(summary->epochs[0].executions, 4);
  EXPECT_EQ(summary->time.ticks, 4 * summary->epochs[0].time.ticks);
  EXPECT_GT(summary->time.ticks, 0u);
  EXPECT_EQ(*o.device->waiting("y"), 8);
  EXPECT_EQ(*o.device->waiting("x"), 0);
  auto out = o.device->pop("y", 8);
  ASSERT_TRUE(out.ok());
  EXPECT_EQ(out->shape(), (Shape{8, 1, 64, 64}));
  const std::string text = perf::summary_text(*summary);
  EXPECT_TRUE(text.starts_with("8 inputs in ")) << text;
  EXPECT_NE(text.find("epoch 0 'g':"), std::string::npos) << text;
}

TEST(TimedDevice, SlicesDoNotMatter) {
  Opened whole, sliced;
  ASSERT_NE(whole.device, nullptr);
  whole.push(6);
  sliced.push(6);
  ASSERT_TRUE(whole.device->run("p", {{"$p_loop_count", 3}}).ok());
  ASSERT_TRUE(sliced.device->start("p", {{"$p_loop_count", 3}}).ok());
  perf::SimTime until;
  int slices = 0;
  for (State state = State::running; state == State::running; ++slices) {
    until.ticks += 777;
    auto progress = sliced.device->advance(Until::at(until));
    ASSERT_TRUE(progress.ok());
    state = progress->state;
    EXPECT_LE(progress->now, until);
  }
  EXPECT_GT(slices, 10);
  EXPECT_EQ(sliced.device->summary()->time, whole.device->summary()->time);
}

// Wherever a run is cut, the same happens at the same time.
TEST(TimedDevice, AThousandSlicesAreOneRun) {
  Opened whole, sliced;
  ASSERT_NE(whole.device, nullptr);
  whole.push(8);
  sliced.push(8);
  ASSERT_TRUE(whole.device->run("p", {{"$p_loop_count", 4}}).ok());
  const auto expected = whole.device->summary();
  std::vector<std::uint64_t> cuts(1000);
  std::mt19937_64 random(18);
  for (std::uint64_t& cut : cuts) cut = random() % expected->time.ticks;
  std::sort(cuts.begin(), cuts.end());
  ASSERT_TRUE(sliced.device->start("p", {{"$p_loop_count", 4}}).ok());
  for (std::uint64_t cut : cuts) {
    auto progress = sliced.device->advance(Until::at({cut}));
    ASSERT_TRUE(progress.ok());
    ASSERT_EQ(progress->state, State::running);
  }
  auto last = sliced.device->advance(Until::idle());
  ASSERT_TRUE(last.ok());
  EXPECT_EQ(last->state, State::idle);
  const auto summary = sliced.device->summary();
  EXPECT_EQ(summary->time, expected->time);
  EXPECT_EQ(summary->epochs, expected->epochs);
  EXPECT_EQ(perf::summary_text(*summary), perf::summary_text(*expected));
}

TEST(TimedDevice, WaitsForTheHost) {
  Opened o;
  ASSERT_NE(o.device, nullptr);
  o.push(3);
  ASSERT_TRUE(o.device->start("p", {{"$p_loop_count", 2}}).ok());
  auto progress = o.device->advance(Until::idle());
  ASSERT_TRUE(progress.ok());
  ASSERT_EQ(progress->state, State::needs_host);
  ASSERT_EQ(progress->waits.size(), 1u);
  EXPECT_EQ(progress->waits[0].queue, "x");
  EXPECT_EQ(progress->waits[0].what, runtime::Wait::For::push);
  o.push(1);
  progress = o.device->advance(Until::idle());
  ASSERT_TRUE(progress.ok());
  EXPECT_EQ(progress->state, State::idle);
  EXPECT_EQ(*o.device->waiting("y"), 4);
}

// 512 inputs through eight entries: the headers of the queues move while the epoch runs.
std::string long_epoch() {
  std::string text = sim::two_ops(512);
  const std::string entries = "entries: 4";
  for (std::size_t at = text.find(entries); at != std::string::npos; at = text.find(entries, at + 1))
    text.replace(at, entries.size(), "entries: 8");
  const std::string settings = "queue_settings: {";
  return text.replace(text.find(settings), settings.size(),
                      settings +
                          "x: {prologue: false, epilogue: false, zero: false, rd_ptr_local: 0, rd_ptr_global: 0, rd_ptr_autoinc: 1, "
                          "global_rdptr_autoinc: 1}");
}

TEST(TimedDevice, AnEpochIsLongerThanItsQueues) {
  Opened o({}, long_epoch());
  ASSERT_NE(o.device, nullptr);
  o.push(8);
  ASSERT_TRUE(o.device->start("p", {}).ok());
  int pushed = 8, popped = 0;
  for (State state = State::running; state != State::idle;) {
    auto progress = o.device->advance(Until::idle());
    ASSERT_TRUE(progress.ok());
    state = progress->state;
    ASSERT_TRUE(state == State::idle || state == State::needs_host);
    for (const auto& wait : progress->waits) {
      if (wait.what == runtime::Wait::For::push) {
        ASSERT_LT(pushed++, 512);
        o.push(1);
      } else {
        ASSERT_TRUE(o.device->pop("y", 1).ok());
        ++popped;
      }
    }
  }
  EXPECT_EQ(pushed, 512);
  EXPECT_EQ(popped + *o.device->waiting("y"), 512);
  EXPECT_EQ(*o.device->waiting("x"), 0);
  EXPECT_EQ(o.device->summary()->epochs[0].inputs, 512);
}

// The device stops as soon as an entry is there, in the middle of an epoch.
TEST(TimedDevice, StopsWhenAQueueHoldsEntries) {
  Opened o({}, long_epoch());
  ASSERT_NE(o.device, nullptr);
  o.push(8);
  ASSERT_TRUE(o.device->start("p", {}).ok());
  auto progress = o.device->advance(Until::holds("y", 3));
  ASSERT_TRUE(progress.ok());
  EXPECT_EQ(progress->state, State::running);
  EXPECT_EQ(*o.device->waiting("y"), 3);
}

perf::Summary with_host(double gbs, int slices) {
  DeviceOptions options;
  options.host_gbs = gbs;
  Opened o(options, looping());
  EXPECT_NE(o.device, nullptr);
  o.push(8);
  EXPECT_TRUE(o.device->start("p", {{"$p_loop_count", 4}}).ok());
  perf::SimTime until;
  for (State state = State::running; state == State::running;) {
    until.ticks += 100000;
    auto progress = o.device->advance(slices == 1 ? Until::idle() : Until::at(until));
    EXPECT_TRUE(progress.ok());
    if (!progress) break;
    state = progress->state;
  }
  EXPECT_EQ(*o.device->waiting("y"), 8);
  EXPECT_TRUE(o.device->pop("y", 8).ok());
  return *o.device->summary();
}

// Eight entries of four tiles of 2080 bytes, into the device and out of it.
TEST(TimedDevice, ASlowHostLimits) {
  const perf::Summary slow = with_host(0.1, 1), fast = with_host(100, 1);
  EXPECT_GE(slow.time.cycles(), 8 * 4 * 2080 / 0.1);
  EXPECT_LT(slow.time.cycles(), 2 * 8 * 4 * 2080 / 0.1);
  EXPECT_LT(fast.time.cycles(), slow.time.cycles() / 4);
  ASSERT_FALSE(slow.epochs[0].causes.empty());
  EXPECT_EQ(slow.epochs[0].causes.front().what, "the host, which serves queue 'x'");
  EXPECT_EQ(with_host(0.1, 2).time, slow.time) << "in whatever slices";
}

// Cores that have nothing to do load what comes next.
TEST(TimedDevice, SwitchingEpochsTakesTime) {
  DeviceOptions options;
  options.switch_cycles = 5000;
  Opened with(options), without;
  ASSERT_NE(with.device, nullptr);
  for (Opened* o : {&with, &without}) {
    o->push(8);
    ASSERT_TRUE(o->device->run("p", {{"$p_loop_count", 4}}).ok());
  }
  const double more = with.device->summary()->time.cycles() - without.device->summary()->time.cycles();
  EXPECT_GT(more, 5000);
  EXPECT_LT(more, 4 * 7000);
}

// What was waited for once is waited for again.
TEST(TimedDevice, WaitsAgain) {
  Opened o;
  ASSERT_NE(o.device, nullptr);
  for (int round = 0; round < 2; ++round) {
    ASSERT_TRUE(o.device->start("p", {{"$p_loop_count", 1}}).ok());
    auto progress = o.device->advance(Until::idle());
    ASSERT_TRUE(progress.ok());
    ASSERT_EQ(progress->state, State::needs_host) << round;
    o.push(2);
    progress = o.device->advance(Until::idle());
    ASSERT_TRUE(progress.ok());
    ASSERT_EQ(progress->state, State::idle) << round;
  }
  EXPECT_FALSE(o.device->run("p", {{"$p_loop_count", 1}}).ok());
}

TEST(TimedDevice, SlowerKernelsTakeLonger) {
  DeviceOptions options;
  options.scale["a"] = 3;
  Opened slow(options), usual;
  ASSERT_NE(slow.device, nullptr);
  for (Opened* o : {&slow, &usual}) {
    o->push(8);
    ASSERT_TRUE(o->device->run("p", {{"$p_loop_count", 4}}).ok());
  }
  EXPECT_GT(slow.device->summary()->time, usual.device->summary()->time);
}

TEST(TimedDevice, RefusesWhatQueuesCannotHold) {
  std::string text = looping();
  text.insert(text.find("graphs:"), pipes::queue_text("w", "HOST", "grid_size: [1, 1], t: 1, mblock: [2, 2], ublock: [1, 1]", 1, 0x40000000,
                                                      "type: ram, entries: 1"));
  Opened o({}, text);
  ASSERT_NE(o.device, nullptr);
  const auto code_of = [](const auto& result) { return result.ok() ? "" : result.failure().diagnostics().front().code; };
  EXPECT_EQ(code_of(o.device->push("x", *Tensor::zeros(DType::f32, Shape{9, 1, 64, 64}))), "SM013");
  EXPECT_EQ(code_of(o.device->pop("y", 1)), "SM014");
  EXPECT_EQ(code_of(o.device->waiting("z")), "SM011");
  EXPECT_EQ(code_of(o.device->push("w", *Tensor::zeros(DType::f32, Shape{1, 1, 64, 64}))), "SM012");
  EXPECT_EQ(code_of(o.device->run("p", {{"$p_loop_count", std::int64_t{1} << 40}})), "SM016");
}

}  // namespace
}  // namespace buda::timed
