// SPDX-License-Identifier: Apache-2.0
// Pipelines of devices that are easy to predict.
#include "fixture.hpp"

#include <buda/base/text.hpp>
#include <buda/graph/graph.hpp>
#include <buda/ops/whole_graph/builder.hpp>
#include <buda/runtime/pipeline.hpp>

#include <gmock/gmock.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace buda::runtime::test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

using Function = std::function<Result<float>(float)>;

// A device that computes one number of one.
PipelineDevice device(const std::string& name, Function function) {
  PipelineDevice out{name, {{cat(name, ".in"), DType::f32, Shape{1}}}, {{cat(name, ".out"), DType::f32, Shape{1}}}, nullptr};
  out.run = [name, function = std::move(function)](const NamedTensors& inputs) -> Result<NamedTensors> {
    BUDA_ASSIGN(float value, function(inputs.at(cat(name, ".in")).as<float>()[0]));
    return NamedTensors{{cat(name, ".out"), Tensor(Shape{1}, std::vector<float>{value})}};
  };
  return out;
}

PipelineDevice adds(const std::string& name, float what) {
  return device(name, [what](float x) -> Result<float> { return x + what; });
}

std::vector<Tensor> number(float value) { return {Tensor(Shape{1}, std::vector<float>{value})}; }
float value_of(const Result<NamedTensors>& result) { return result ? result->begin()->second.as<float>()[0] : -1; }

TEST(Pipeline, ResultsComeInOrder) {
  for (bool sequential : {false, true}) {
    PipelineOptions options;
    options.sequential = sequential;
    auto pipeline = Pipeline::make({adds("cpu0", 1), adds("tt0", 10), adds("tt1", 100)}, options);
    ASSERT_TRUE(pipeline) << error_of(pipeline);
    std::vector<NamedTensors> inputs;
    for (int i = 0; i < 500; ++i) inputs.push_back({{"cpu0.in", number(static_cast<float>(i)).front()}});
    auto results = (*pipeline)->run_inference(inputs);
    ASSERT_TRUE(results) << error_of(results);
    ASSERT_EQ(results->size(), 500U);
    for (int i = 0; i < 500; ++i)
      EXPECT_EQ((*results)[static_cast<std::size_t>(i)].at("tt1.out").as<float>()[0], static_cast<float>(i + 111));
  }
}

// Three devices that wait for each other to be at work at the same time: on the first, second and third microbatch.
TEST(Pipeline, DevicesWorkAtTheSameTime) {
  std::mutex mutex;
  std::condition_variable changed;
  int at_work = 0;
  auto meets_at = [&](float microbatch) {
    return [&, microbatch](float x) -> Result<float> {
      if (x != microbatch) return x;
      std::unique_lock lock(mutex);
      ++at_work;
      changed.notify_all();
      if (!changed.wait_for(lock, 30s, [&] { return at_work == 3; })) return input_error("FAKE", {}, "nobody came");
      return x;
    };
  };
  auto pipeline = Pipeline::make({device("a", meets_at(2)), device("b", meets_at(1)), device("c", meets_at(0))});
  ASSERT_TRUE((*pipeline)->run_forward(0));
  for (int i = 0; i < 3; ++i) ASSERT_TRUE((*pipeline)->push_to_inputs(number(static_cast<float>(i))));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(value_of((*pipeline)->pop()), static_cast<float>(i));
}

TEST(Pipeline, AFailureNamesTheDeviceAndTheOpBehindWhatIsAheadOfIt) {
  auto fails_at_four = [](float x) -> Result<float> {
    if (x != 14) return x;
    Diagnostic d = input_error("FAKE", {}, "op 'gather_7': the index is out of range");
    d.node = "gather_7";
    return d;
  };
  for (bool sequential : {false, true}) {
    PipelineOptions options;
    options.sequential = sequential;
    auto pipeline = Pipeline::make({adds("cpu0", 10), device("tt0", fails_at_four), adds("tt1", 100)}, options);
    ASSERT_TRUE((*pipeline)->run_forward(0));
    Result<void> pushed;
    std::thread pusher([&] {
      for (int i = 0; i < 100 && pushed; ++i) pushed = (*pipeline)->push_to_inputs(number(static_cast<float>(i)));
    });
    for (int i = 0; i < 4; ++i) EXPECT_EQ(value_of((*pipeline)->pop()), static_cast<float>(i + 110));
    auto failed = (*pipeline)->pop();
    EXPECT_THAT(error_of(failed), HasSubstr("FAKE: device 'tt0', microbatch 4: op 'gather_7': the index is out of range"));
    EXPECT_EQ(failed.failure().diagnostics()[0].node, "gather_7");
    pusher.join();
    EXPECT_THAT(error_of(pushed), HasSubstr("device 'tt0'"));
    EXPECT_THAT(error_of((*pipeline)->sync()), HasSubstr("device 'tt0'"));
    EXPECT_THAT(error_of((*pipeline)->run_forward(1)), HasSubstr("device 'tt0'"));
  }
}

TEST(Pipeline, TheHostsProcessorNamesItsOp) {
  TestHost host;
  ops::Builder b("rows");
  auto table = b.parameter("table", Tensor(Shape{3, 1}, std::vector<float>{5, 6, 7}));
  b.output("row", b.named("look_up").op("gather", {table, b.input("at", {1}, DType::i64)}, {{"dim", std::int64_t{0}}}));
  auto graph = b.finish();
  ASSERT_TRUE(graph);
  auto cpu = cpu_device("cpu0", std::move(*graph), host);
  ASSERT_TRUE(cpu) << error_of(cpu);
  auto pipeline = Pipeline::make({*cpu});
  auto at = [](std::int64_t i) { return NamedTensors{{"at", Tensor(Shape{1}, std::vector<std::int64_t>{i})}}; };
  auto rows = (*pipeline)->run_inference({at(2), at(0)});
  ASSERT_TRUE(rows) << error_of(rows);
  EXPECT_EQ((*rows)[0].at("row"), Tensor(Shape({1, 1}), std::vector<float>{7}));
  auto failed = (*pipeline)->run_inference({at(3)});
  EXPECT_THAT(error_of(failed), HasSubstr("device 'cpu0', microbatch 2: "));
  EXPECT_THAT(error_of(failed), HasSubstr("look_up"));
}

TEST(Pipeline, StoppingFinishesWhatIsInFlightAndKeepsTheRest) {
  PipelineOptions options;
  options.entries = 2;
  auto pipeline = Pipeline::make({adds("cpu0", 1), adds("tt0", 10)}, options);
  EXPECT_FALSE((*pipeline)->get_first_inputs()) << "nothing waits";
  ASSERT_TRUE((*pipeline)->push_to_inputs(number(0)));
  ASSERT_TRUE((*pipeline)->push_to_inputs(number(1)));
  EXPECT_EQ(value_of((*pipeline)->get_first_inputs()), 0) << "which stays";
  ASSERT_TRUE((*pipeline)->run_forward(1));
  ASSERT_TRUE((*pipeline)->sync());
  EXPECT_EQ((*pipeline)->counts().finished, 1);
  EXPECT_EQ(value_of((*pipeline)->get_first_inputs()), 1);
  ASSERT_TRUE((*pipeline)->push_to_inputs(number(2), 0ms));
  auto full = (*pipeline)->push_to_inputs(number(3), 0ms);
  EXPECT_THAT(error_of(full), HasSubstr("RT050: device 'cpu0' has 2 microbatches in front of it, and took none in time"));
  EXPECT_EQ(full.failure().diagnostics()[0].hint, "run_forward lets microbatches in");
  ASSERT_TRUE((*pipeline)->run_forward(2));
  ASSERT_TRUE((*pipeline)->sync());
  for (int i = 0; i < 3; ++i) EXPECT_EQ(value_of((*pipeline)->pop()), static_cast<float>(i + 11));
  EXPECT_THAT(error_of((*pipeline)->pop(0ms)), HasSubstr("RT051: no result came in time; 0 of 3 microbatches are in flight"));
  ASSERT_TRUE((*pipeline)->run_forward(1));
  auto early = (*pipeline)->sync(1ms);
  EXPECT_THAT(error_of(early), HasSubstr("RT052: the pipeline has not finished in time: 3 of 3"));
  EXPECT_EQ(early.failure().diagnostics()[0].hint, "run_forward was asked for 1 more than were pushed");
  (*pipeline)->shutdown();
  EXPECT_THAT(error_of((*pipeline)->run_forward(1)), HasSubstr("RT061: the pipeline is shut down"));
}

TEST(Pipeline, ACancelledRunGivesTheResultsOfAllThatItLetIn) {
  auto pipeline = Pipeline::make({adds("cpu0", 1), adds("tt0", 10)});
  int asked = 0;
  const std::vector<NamedTensors> inputs(100, NamedTensors{{"cpu0.in", number(1).front()}});
  auto results = (*pipeline)->run_inference(inputs, [&] { return ++asked > 7; });
  ASSERT_TRUE(results);
  EXPECT_EQ(results->size(), 7U);
  EXPECT_EQ((*pipeline)->counts().finished, 7);
}

TEST(Pipeline, TypesAreChecked) {
  auto pipeline = Pipeline::make({adds("cpu0", 1)});
  EXPECT_THAT(error_of((*pipeline)->push_to_inputs(std::vector<Tensor>{})),
              HasSubstr("RT020: 0 tensors are given; the pipeline takes 'cpu0.in' F32 [1]"));
  EXPECT_THAT(error_of((*pipeline)->push_to_inputs({Tensor(Shape{2}, std::vector<float>(2))})),
              HasSubstr("RT021: input 'cpu0.in' F32 [1] is given as F32 [2]"));
  EXPECT_THAT(error_of((*pipeline)->push_to_inputs(NamedTensors{{"cpu1.in", number(1).front()}})),
              HasSubstr("RT020: there is no input 'cpu1.in'"));
  EXPECT_THAT(error_of((*pipeline)->push_to_inputs({number(1)[0].cast(DType::i32)})), HasSubstr("RT022"));
  EXPECT_THAT(error_of(Pipeline::make({})), HasSubstr("RT060: a pipeline has at least one device"));
  PipelineDevice wide = adds("tt0", 1);
  wide.inputs[0].shape = Shape{2};
  EXPECT_THAT(error_of(Pipeline::make({adds("cpu0", 1), wide})),
              HasSubstr("RT060: device 'cpu0' gives 'cpu0.out' F32 [1], and 'tt0' takes 'tt0.in' F32 [2]"));
}

TEST(Pipeline, TheHostsProcessorTakesGraphsOfTensorLevelWithoutState) {
  TestHost host;
  ops::Builder b("counter");
  b.output("y", b.relu(b.input("x", {1})));
  auto graph = b.finish();
  ASSERT_TRUE(graph);
  graph->node(graph->find("x")).tags["loopback"] = "y";
  EXPECT_THAT(error_of(cpu_device("cpu0", *graph, host)), HasSubstr("RT062: device 'cpu0': graph 'counter' has a state"));
}

TEST(Pipeline, WhatDevicesHandOnIsHeard) {
  std::mutex mutex;
  std::vector<float> heard;
  PipelineOptions options;
  options.handed_on = [&](std::size_t device, const NamedTensors& outputs) {
    std::lock_guard lock(mutex);
    EXPECT_EQ(device, 0U);
    heard.push_back(outputs.at("cpu0.out").as<float>()[0]);
  };
  auto pipeline = Pipeline::make({adds("cpu0", 1), adds("tt0", 10)}, options);
  ASSERT_TRUE((*pipeline)->run_inference({{{"cpu0.in", number(1).front()}}, {{"cpu0.in", number(2).front()}}}));
  EXPECT_THAT(heard, ElementsAre(2, 3));
}

}  // namespace
}  // namespace buda::runtime::test
