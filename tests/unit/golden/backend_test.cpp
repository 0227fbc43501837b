// SPDX-License-Identifier: Apache-2.0
// Backends on a device with back-pressure: one thread, and several.
#include "../device/source_devices.hpp"
#include "../runtime/fixture.hpp"

#include <buda/base/text.hpp>
#include <buda/functional/device.hpp>
#include <buda/graph/graph.hpp>
#include <buda/image/merge.hpp>
#include <buda/ops/whole_graph/builder.hpp>
#include <buda/runtime/backend.hpp>
#include <buda/runtime/model/model_image.hpp>
#include <buda/runtime/shared_io.hpp>
#include <buda/tensor/tensor.hpp>

#include <gmock/gmock.h>

#include <unistd.h>
#include <atomic>
#include <chrono>
#include <thread>

namespace buda::runtime::test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

class Golden final : public runtime::Target {
 public:
  Result<std::unique_ptr<runtime::Device>> open(const runtime::Program& program, const device::DeviceDescriptor&, Host& host) override {
    BUDA_ASSIGN(auto device, functional::make_device(program, {}, host));
    return std::unique_ptr<runtime::Device>(std::move(device));
  }
};

// Queues of `entries` batches, each with an address of its own.
std::string netlist_with_places(int entries = 2) {
  std::string text = runtime::test::netlist_text(entries);
  for (const char* queue : {"q_x", "q_w", "q_y"}) {
    const auto at = text.find("0x10000000", text.find(std::string(queue) + ":"));
    text.replace(at, 10, std::string("0x") + std::to_string(10 + (queue[2] == 'x' ? 0 : queue[2] == 'w' ? 1 : 2)) + "000000");
  }
  text.erase(text.find("  - second:"));
  return text;
}

// y = 10 x, of two rows of three; queues of `entries` batches. As a state, y is the x of the next step.
runtime::Model model(int entries, bool is_state = false) {
  runtime::Model m = runtime::test::model(entries);
  std::string text = netlist_with_places(entries);
  if (is_state) {
    text.erase(text.find("  q_y:"), text.find("graphs:") - text.find("  q_y:"));
    text.replace(text.find("input: HOST"), 11, "input: op");
    m.plan.inputs[0].loopback = "y";
    m.plan.outputs[0].queue = "q_x";
  }
  m.program.netlist = runtime::test::parsed(text);
  return m;
}

// Of numbers that the math unit has exactly.
Tensor batch(int number) {
  std::vector<float> v;
  for (int i = 0; i < 6; ++i) v.push_back(static_cast<float>(10 * (number % 100) + i));
  return Tensor(Shape{2, 3}, std::move(v));
}

Tensor times(float factor, const Tensor& t) {
  std::vector<float> v = t.to_f32();
  for (float& x : v) x *= factor;
  return Tensor(t.shape(), std::move(v));
}

Tensor times_ten(const Tensor& t) { return times(10, t); }

class BackendTest : public testing::Test {
 protected:
  void open(int entries, bool is_state = false) {
    runtime::MergedModel image;
    image.whole = model(entries, is_state);
    image.models.push_back(image.whole);
    auto opened = Backend::open(std::move(image), target_, device::shipped("n150"), host_);
    ASSERT_TRUE(opened) << error_of(opened);
    backend_ = std::move(*opened);
    x_ = *backend_->models().front().input("x");
    y_ = *backend_->models().front().output("y");
  }

  TestHost host_;
  Golden target_;
  std::unique_ptr<Backend> backend_;
  const runtime::Port* x_ = nullptr;
  const runtime::Port* y_ = nullptr;
};

TEST_F(BackendTest, TellsWhatTheImageHolds) {
  open(2);
  const LoadedModel& m = backend_->models().front();
  EXPECT_EQ(m.name, "m");
  EXPECT_THAT(m.programs, ElementsAre("run_fwd"));
  EXPECT_EQ(x_->shape, (Shape{2, 3}));
  EXPECT_EQ(x_->queue->entries, 2);
  EXPECT_EQ(x_->queue->format, DataFormat::float32);
  EXPECT_EQ(x_->queue->layout, netlist::QueueLayout::tilized);
  EXPECT_EQ(x_->queue->location, netlist::QueueLocation::dram);
  EXPECT_THAT(error_of(backend_->model("n")), HasSubstr("RT003: the image has no model 'n'; it holds m"));
  EXPECT_THAT(error_of(m.input("z")), HasSubstr("RT020: the model has no input 'z'; it has x"));
  EXPECT_THAT(error_of(backend_->queue_state("q_z")), HasSubstr("RT054: the image has no queue 'q_z'"));
  EXPECT_THAT(error_of(backend_->start("run_bwd")), HasSubstr("RT015: the image has no program 'run_bwd'"));
  EXPECT_THAT(error_of(backend_->start("run_fwd")), HasSubstr("RT023: parameter '$p_loop_count' of program 'run_fwd' has no value"));
}

TEST_F(BackendTest, PushesRunsAndPops) {
  open(2);
  ASSERT_TRUE(backend_->push(*x_, batch(1)));
  ASSERT_TRUE(backend_->push(*x_, batch(2).cast(DType::f64)));
  ASSERT_TRUE(backend_->run("run_fwd", {{"$p_loop_count", 2}}));
  EXPECT_EQ(backend_->status().state, State::idle);
  auto state = backend_->queue_state("q_y");
  ASSERT_TRUE(state);
  EXPECT_EQ(state->waiting, 2);
  EXPECT_EQ(state->room, 0);
  EXPECT_EQ(*backend_->get(*y_), times_ten(batch(1)));
  EXPECT_EQ(*backend_->pop(*y_), times_ten(batch(1)));
  EXPECT_EQ(*backend_->pop(*y_), times_ten(batch(2)));
  EXPECT_EQ(backend_->telemetry().at("epochs"), 2);
}

TEST_F(BackendTest, ParametersAreReadAndWritten) {
  open(2);
  auto w = backend_->read("q_w", 0, 1);
  ASSERT_TRUE(w) << error_of(w);
  EXPECT_EQ(w->to_f32().front(), 10);
  ASSERT_TRUE(backend_->write("q_w", 0, runtime::test::tile(100)));
  ASSERT_TRUE(backend_->push(*x_, batch(1)));
  ASSERT_TRUE(backend_->run("run_fwd", {{"$p_loop_count", 1}}));
  EXPECT_EQ(*backend_->pop(*y_), times_ten(times_ten(batch(1))));
}

TEST_F(BackendTest, EntriesPassUntransformed) {
  open(2);
  ASSERT_TRUE(backend_->push_entries("q_x", runtime::test::tile(3)));
  ASSERT_TRUE(backend_->run("run_fwd", {{"$p_loop_count", 1}}));
  EXPECT_EQ(*backend_->pop_entries("q_y", 1), runtime::test::tile(30));
  EXPECT_THAT(error_of(backend_->push_entries("q_x", batch(1))), HasSubstr("RT011"));
  EXPECT_THAT(error_of(backend_->push_entries("q_x", *Tensor::zeros(DType::f32, Shape{3, 1, 32, 32}))),
              HasSubstr("RT053: 3 entries are pushed into queue 'q_x', which has 2"));
  EXPECT_THAT(error_of(backend_->push_entries("q_w", runtime::test::tile(3))), HasSubstr("RT054: 'q_w' is a ram, not a queue"));
  EXPECT_THAT(error_of(backend_->read("q_x", 0, 1)), HasSubstr("RT054: 'q_x' is a queue, not a ram"));
}

TEST_F(BackendTest, WhatWaitsInVainSaysForWhatAndWhatHelps) {
  open(2);
  ASSERT_TRUE(backend_->push(*x_, batch(1)));
  ASSERT_TRUE(backend_->push(*x_, batch(2)));
  auto full = backend_->push(*x_, batch(3), 1ms);
  EXPECT_THAT(error_of(full), HasSubstr("RT050: input 'x': queue 'q_x' has space for 0 of its 2 entries, 1 is pushed"));
  EXPECT_EQ(full.failure().diagnostics()[0].hint, "run program 'run_fwd', which reads the queue");
  EXPECT_TRUE(runtime::is_timeout(full.failure()));
  auto empty = backend_->pop(*y_, 0ms);
  EXPECT_THAT(error_of(empty), HasSubstr("RT051: output 'y': queue 'q_y' holds 0 entries, 1 is asked for"));
  EXPECT_EQ(empty.failure().diagnostics()[0].hint, "run program 'run_fwd', which fills the queue");
  // As the hint says.
  ASSERT_TRUE(backend_->run("run_fwd", {{"$p_loop_count", 2}}));
  EXPECT_TRUE(backend_->push(*x_, batch(3), 0ms));
  EXPECT_TRUE(backend_->pop(*y_, 0ms));
}

TEST_F(BackendTest, AProgramThatWaitsForTheHostTellsSoAndGoesOn) {
  open(2);
  ASSERT_TRUE(backend_->push(*x_, batch(1)));
  auto late = backend_->run("run_fwd", {{"$p_loop_count", 4}}, 50ms);
  EXPECT_THAT(error_of(late), HasSubstr("RT052: program 'run_fwd' has not ended in time, and goes on"));
  EXPECT_EQ(late.failure().diagnostics()[0].hint, "program 'run_fwd' waits for 1 entry in queue 'q_x': push them");
  EXPECT_EQ(backend_->status().state, State::needs_host);
  EXPECT_EQ(backend_->status().program, "run_fwd");
  for (int i = 2; i <= 4; ++i) {
    EXPECT_EQ(*backend_->pop(*y_), times_ten(batch(i - 1)));
    ASSERT_TRUE(backend_->push(*x_, batch(i)));
  }
  EXPECT_TRUE(backend_->wait());
  EXPECT_EQ(*backend_->pop(*y_), times_ten(batch(4)));
}

TEST_F(BackendTest, CancelledProgramsLeaveTheDeviceUsable) {
  open(2);
  ASSERT_TRUE(backend_->start("run_fwd", {{"$p_loop_count", 4}}));
  ASSERT_TRUE(backend_->start("run_fwd", {{"$p_loop_count", 4}}));
  backend_->cancel();
  EXPECT_EQ(backend_->status().state, State::idle);
  ASSERT_TRUE(backend_->push(*x_, batch(1)));
  ASSERT_TRUE(backend_->run("run_fwd", {{"$p_loop_count", 1}}));
  EXPECT_EQ(*backend_->pop(*y_), times_ten(batch(1)));
}

// Thousands of batches pass queues of two entries, with the pusher, the device and the popper on threads of their own.
TEST_F(BackendTest, BackPressureKeepsAStreamWhole) {
  open(2);
  constexpr int kBatches = 2000;
  ASSERT_TRUE(backend_->start("run_fwd", {{"$p_loop_count", kBatches}}));
  std::thread pusher([&] {
    for (int i = 0; i < kBatches; ++i) ASSERT_TRUE(backend_->push(*x_, batch(i)));
  });
  int wrong = 0;
  for (int i = 0; i < kBatches; ++i) {
    auto y = backend_->pop(*y_);
    if (y && *y == times_ten(batch(i))) continue;
    if (wrong++ == 0) ADD_FAILURE() << "batch " << i << ": " << error_of(y);
  }
  pusher.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_TRUE(backend_->wait());
}

TEST_F(BackendTest, StatesStayOnTheDevice) {
  open(2, true);
  EXPECT_EQ(*backend_->get(*y_), *Tensor::zeros(DType::f32, Shape{2, 3}));
  ASSERT_TRUE(backend_->push(*x_, batch(1)));
  ASSERT_TRUE(backend_->run("run_fwd", {{"$p_loop_count", 1}}));
  EXPECT_EQ(*backend_->get(*y_), times_ten(batch(1)));
  ASSERT_TRUE(backend_->run("run_fwd", {{"$p_loop_count", 1}}));
  EXPECT_EQ(*backend_->get(*y_), times_ten(times_ten(batch(1))));
  ASSERT_TRUE(backend_->push(*x_, batch(2)));
  ASSERT_TRUE(backend_->run("run_fwd", {{"$p_loop_count", 1}}));
  EXPECT_EQ(*backend_->get(*y_), times_ten(batch(2)));
  EXPECT_THAT(error_of(backend_->pop(*y_)), HasSubstr("RT056: output 'y' is what the next step begins with"));
}

// Two models in one device: their programs come one after the other, and their queues are their own.
TEST_F(BackendTest, ModelsOfAMergedImageTakeTurns) {
  std::vector<image::NamedImage> images;
  for (const char* name : {"bert", "vit"}) {
    runtime::Model m = model(2);
    m.text = io::Bytes(netlist_with_places());
    auto image = make_image(std::move(m), device::shipped("n150"), {}, "net.yaml");
    ASSERT_TRUE(image) << error_of(image);
    images.push_back({name, std::move(*image)});
  }
  auto merged = image::merge_images(std::move(images), {});
  ASSERT_TRUE(merged) << error_of(merged);
  auto models = load_models("merged.tti", std::move(merged->image));
  ASSERT_TRUE(models) << error_of(models);
  auto opened = Backend::open(std::move(*models), target_, device::shipped("n150"), host_);
  ASSERT_TRUE(opened) << error_of(opened);
  const LoadedModel &bert = **(*opened)->model("bert"), &vit = **(*opened)->model("vit");
  EXPECT_NE(bert.programs, vit.programs);
  ASSERT_TRUE((*opened)->push(**bert.input("x"), batch(1)));
  ASSERT_TRUE((*opened)->push(**vit.input("x"), batch(2)));
  ASSERT_TRUE((*opened)->start(vit.programs.front(), {{"$p_loop_count", 1}}));
  ASSERT_TRUE((*opened)->run(bert.programs.front(), {{"$p_loop_count", 1}}));
  EXPECT_EQ(*(*opened)->pop(**bert.output("y")), times_ten(batch(1)));
  EXPECT_EQ(*(*opened)->pop(**vit.output("y")), times_ten(batch(2)));
}

TEST_F(BackendTest, WhatTheHostComputesIsNotForADevice) {
  runtime::MergedModel image;
  image.whole = model(2);
  image.whole.plan.segments = {{host_plan::SegmentKind::host, "m.graph.json", {}}};
  image.models.push_back(image.whole);
  EXPECT_THAT(error_of(Backend::open(std::move(image), target_, device::shipped("n150"), host_)),
              HasSubstr("RT055: the host does all of the model's work"));
}

// x -> double on the host -> times ten on the device -> plus x on the host -> z.
runtime::MergedModel segmented_model(const std::string& x_is = "") {
  runtime::MergedModel image;
  image.whole = model(2);
  host_plan::HostPlan& plan = image.whole.plan;
  host_plan::PlanTensor x = plan.inputs[0], y = plan.outputs[0];
  plan.inputs[0].queue.clear();
  plan.inputs[0].transforms.clear();
  plan.inputs[0].loopback = x_is;
  plan.inputs.push_back({"unread", "I64", {2, 3}, "", {}});
  plan.outputs = {{"z", "F32", {2, 3}, "", {}}};
  x.name = "x2";
  plan.segments[0].inputs = {x};
  plan.segments[0].outputs = {y};
  plan.segments.insert(plan.segments.begin(), {host_plan::SegmentKind::host, "before.graph.json", {}});
  plan.segments.push_back({host_plan::SegmentKind::host, "behind.graph.json", {}});
  ops::Builder before("before"), behind("behind");
  const auto in = before.input("x", {2, 3});
  before.output("x2", before.add(in, in));
  behind.output("z", behind.add(behind.input("y", {2, 3}), behind.input("x", {2, 3})));
  image.whole.host_graphs.emplace("before.graph.json", std::make_shared<const graph::Graph>(*before.finish()));
  image.whole.host_graphs.emplace("behind.graph.json", std::make_shared<const graph::Graph>(*behind.finish()));
  image.models.push_back(image.whole);
  return image;
}

TEST_F(BackendTest, SegmentsOfTheHostRunWithTheModel) {
  auto opened = Backend::open(segmented_model(), target_, device::shipped("n150"), host_);
  ASSERT_TRUE(opened) << error_of(opened);
  const LoadedModel& m = (*opened)->models().front();
  EXPECT_TRUE(m.has_host_segments);
  EXPECT_THAT(error_of((*opened)->run_model(m, 1, 0ms)), HasSubstr("RT051: input 'x': no batch of it waits on the host"));
  EXPECT_THAT(error_of((*opened)->pop(**m.output("z"), 0ms)), HasSubstr("RT051: output 'z'"));
  std::thread pusher([&] {
    for (int i = 0; i < 5; ++i) EXPECT_TRUE((*opened)->push(**m.input("x"), batch(i)));
  });
  auto done = (*opened)->run_model(m, 5);
  pusher.join();
  ASSERT_TRUE(done) << error_of(done);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(*(*opened)->pop(**m.output("z")), times(21, batch(i))) << i;
}

TEST_F(BackendTest, CancelEndsATurnThatWaits) {
  auto opened = Backend::open(segmented_model(), target_, device::shipped("n150"), host_);
  ASSERT_TRUE(opened) << error_of(opened);
  const LoadedModel& m = (*opened)->models().front();
  std::atomic<bool> ended = false;
  std::thread canceller([&] {
    while (!ended) {
      (*opened)->cancel();
      std::this_thread::sleep_for(1ms);
    }
  });
  auto done = (*opened)->run_model(m, 1);
  ended = true;
  canceller.join();
  EXPECT_THAT(error_of(done), HasSubstr("RT057: a turn of model 'm' was cancelled"));
  ASSERT_TRUE((*opened)->push(**m.input("x"), batch(3)));
  ASSERT_TRUE((*opened)->run_model(m));
  EXPECT_EQ(*(*opened)->pop(**m.output("z")), times(21, batch(3)));
}

// What waits when all has been pushed is there for a process that only then begins to pop.
TEST_F(BackendTest, ResultsWaitForWhoPops) {
  open(2);
  const std::string name = cat("openbuda-late-", getpid());
  std::thread server([&] {
    ServeOptions options;
    options.idle = 10s;
    auto served = serve_io(*backend_, backend_->models().front(), name, options);
    EXPECT_TRUE(served) << error_of(served);
  });
  {
    auto pusher = SharedIo::attach(name, IoRole::push, 5s);
    if (!pusher) ADD_FAILURE() << error_of(pusher);
    for (int i = 0; i < 2; ++i) EXPECT_TRUE((*pusher)->push({{"x", batch(i)}}, 10s)) << i;
    (*pusher)->close();
  }
  std::this_thread::sleep_for(100ms);
  auto popper = SharedIo::attach(name, IoRole::pop, 5s);
  if (!popper) ADD_FAILURE() << error_of(popper);
  for (int i = 0; i < 2; ++i) {
    auto results = (*popper)->pop(10s);
    ASSERT_TRUE(results) << error_of(results);
    EXPECT_EQ((**results).at("y"), times_ten(batch(i))) << i;
  }
  EXPECT_FALSE((*popper)->pop(10s)->has_value());
  server.join();
}

TEST_F(BackendTest, ServingEndsWhenNobodyComesAndWhenItIsCancelled) {
  open(2);
  const std::string name = cat("openbuda-idle-", getpid());
  ServeOptions options;
  options.idle = 50ms;
  EXPECT_EQ(error_of(serve_io(*backend_, backend_->models().front(), name, options)), "RT084: no batch came for 50 ms\n");
  options.idle.reset();
  options.cancelled = [] { return true; };
  EXPECT_EQ(error_of(serve_io(*backend_, backend_->models().front(), name, options)), "RT083: serving was cancelled\n");
}

// More batches than queues, rings and turns hold, so that everything waits for everything in turn.
TEST_F(BackendTest, SegmentsOfTheHostAreServed) {
  auto opened = Backend::open(segmented_model(), target_, device::shipped("n150"), host_);
  ASSERT_TRUE(opened) << error_of(opened);
  const std::string name = cat("openbuda-served-", getpid());
  std::thread server([&] {
    ServeOptions options;
    options.entries = 2;
    options.idle = 10s;
    auto served = serve_io(**opened, (*opened)->models().front(), name, options);
    EXPECT_TRUE(served) << error_of(served);
  });
  auto io = SharedIo::attach(name, IoRole::both, 5s);
  if (!io) ADD_FAILURE() << error_of(io);
  EXPECT_EQ((*io)->inputs().size(), 1);
  std::thread pusher([&] {
    for (int i = 0; i < 30; ++i) EXPECT_TRUE((*io)->push({{"x", batch(i)}}, 10s)) << i;
  });
  for (int i = 0; i < 30; ++i) {
    auto results = (*io)->pop(10s);
    ASSERT_TRUE(results) << error_of(results);
    EXPECT_EQ((**results).at("z"), times(21, batch(i))) << i;
  }
  pusher.join();
  (*io)->close();
  server.join();
}

TEST_F(BackendTest, StatesOfTheHostGoFromTurnToTurn) {
  auto opened = Backend::open(segmented_model("z"), target_, device::shipped("n150"), host_);
  ASSERT_TRUE(opened) << error_of(opened);
  const LoadedModel& m = (*opened)->models().front();
  const Port &x = **m.input("x"), &z = **m.output("z");
  const Tensor one(Shape{2, 3}, std::vector<float>(6, 1));
  EXPECT_EQ(*(*opened)->get(z), times(0, one));
  ASSERT_TRUE((*opened)->run_model(m));
  EXPECT_EQ(*(*opened)->get(z), times(0, one));
  ASSERT_TRUE((*opened)->push(x, one));
  ASSERT_TRUE((*opened)->run_model(m, 2));
  EXPECT_EQ(*(*opened)->get(z), times(441, one));
  EXPECT_THAT(error_of((*opened)->pop(z)), HasSubstr("RT056: output 'z' is what the next step begins with"));
  ASSERT_TRUE((*opened)->push(x, times(2, one)));
  ASSERT_TRUE((*opened)->run_model(m));
  EXPECT_EQ(*(*opened)->get(z), times(42, one));
}

// The host doubles what the device gave in the step before.
TEST_F(BackendTest, StatesThatTheDeviceComputesForTheHost) {
  runtime::MergedModel image = segmented_model();
  host_plan::HostPlan& plan = image.whole.plan;
  plan.inputs[0].loopback = "y";
  plan.outputs = std::exchange(plan.segments[1].outputs, {});
  plan.segments.pop_back();
  image.whole.host_graphs.erase("behind.graph.json");
  image.models = {image.whole};
  auto opened = Backend::open(std::move(image), target_, device::shipped("n150"), host_);
  ASSERT_TRUE(opened) << error_of(opened);
  const LoadedModel& m = (*opened)->models().front();
  const Tensor one(Shape{2, 3}, std::vector<float>(6, 1));
  ASSERT_TRUE((*opened)->push(**m.input("x"), one));
  ASSERT_TRUE((*opened)->run_model(m, 2));
  EXPECT_EQ(*(*opened)->get(**m.output("y")), times(400, one));
}

TEST_F(BackendTest, ANetlistThatBreaksRulesIsRefused) {
  runtime::MergedModel image;
  image.whole = model(2);
  image.whole.program.netlist.queues[0].buffers[0].channel = 99;
  image.models.push_back(image.whole);
  EXPECT_THAT(error_of(Backend::open(std::move(image), target_, device::shipped("n150"), host_)), HasSubstr("q_x"));
}

TEST_F(BackendTest, ClosingGivesUpWhatRuns) {
  open(2);
  ASSERT_TRUE(backend_->start("run_fwd", {{"$p_loop_count", 4}}));
  backend_.reset();
}

}  // namespace
}  // namespace buda::runtime::test
