// SPDX-License-Identifier: Apache-2.0
// Sessions and bare netlists on a target that is easy to predict.
#include "fixture.hpp"

#include <buda/graph/graph.hpp>
#include <buda/ops/whole_graph/builder.hpp>
#include <buda/runtime/device/trace.hpp>
#include <buda/runtime/session/netlist_run.hpp>

#include <gmock/gmock.h>

namespace buda::runtime::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Tensor rows(std::int64_t n, float first = 1) {
  std::vector<float> v;
  for (std::int64_t i = 0; i < n * 3; ++i) v.push_back(first + static_cast<float>(i));
  return Tensor(Shape{n, 3}, std::move(v));
}

Tensor times_ten(const Tensor& t) {
  std::vector<float> v = t.to_f32();
  for (float& x : v) x *= 10;
  return Tensor(t.shape(), std::move(v));
}

TEST(Session, OneBatchInTheShapeOfTheModel) {
  TestHost host;
  FakeTarget target;
  auto session = Session::open(model(), target, {}, host);
  ASSERT_TRUE(session) << error_of(session);
  auto out = (*session)->run({{"x", rows(2)}});
  ASSERT_TRUE(out) << error_of(out);
  EXPECT_EQ(out->at("y"), times_ten(rows(2)));
  EXPECT_THAT(target.calls, ElementsAre("write q_w", "push q_x 1", "run run_fwd $p_loop_count=1", "pop q_y 1"));
  EXPECT_EQ((*session)->telemetry().at("epochs"), 1);
}

TEST(Session, MoreRowsFillTheQueuesAndPadTheLastBatch) {
  TestHost host;
  FakeTarget target;
  auto session = Session::open(model(2), target, {}, host);
  ASSERT_TRUE(session) << error_of(session);
  auto out = (*session)->run({{"x", rows(9)}});
  ASSERT_TRUE(out) << error_of(out);
  EXPECT_EQ(out->at("y"), times_ten(rows(9)));
  EXPECT_THAT(target.calls,
              ElementsAre("write q_w", "push q_x 2", "run run_fwd $p_loop_count=2", "pop q_y 2", "push q_x 2",
                          "run run_fwd $p_loop_count=2", "pop q_y 2", "push q_x 1", "run run_fwd $p_loop_count=1", "pop q_y 1"));
  EXPECT_EQ((*session)->batches().text(), "9 rows run as 5 batches of 2, the last one padded with 1 row of zeros");
  // Fewer rows than a batch.
  out = (*session)->run({{"x", rows(1)}});
  ASSERT_TRUE(out);
  EXPECT_EQ(out->at("y"), times_ten(rows(1)));
  EXPECT_EQ((*session)->batches().text(), "1 row run as 1 batch of 2, padded with 1 row of zeros");
  // And exactly one again.
  out = (*session)->run({{"x", rows(2)}});
  ASSERT_TRUE(out);
  EXPECT_EQ((*session)->batches().rows, 0);
}

TEST(Session, SeveralProgramsRunBatchByBatch) {
  TestHost host;
  FakeTarget target;
  Model m = model();
  m.plan.segments[0].programs = {"run_fwd"};
  m.program.netlist = parsed(netlist_text(8));
  m.plan.segments[0].programs.push_back("second");
  auto session = Session::open(std::move(m), target, {}, host);
  ASSERT_TRUE(session) << error_of(session);
  auto out = (*session)->run({{"x", rows(4)}});
  EXPECT_FALSE(out);  // the second program finds nothing in this toy, but it was started after each batch
  EXPECT_THAT(target.calls, ElementsAre("write q_w", "push q_x 1", "run run_fwd $p_loop_count=1", "run second"));
}

TEST(Session, ConvertsTypesThatFit) {
  TestHost host;
  FakeTarget target;
  auto session = Session::open(model(), target, {}, host);
  auto out = (*session)->run({{"x", rows(2).cast(DType::f64)}});
  ASSERT_TRUE(out) << error_of(out);
  EXPECT_EQ(out->at("y"), times_ten(rows(2)));
  EXPECT_THAT(error_of((*session)->run({{"x", rows(2).cast(DType::i32)}})),
              HasSubstr("RT022: input 'x' has elements of type I32, the model's are F32"));
}

TEST(Session, InputsThatDoNotFitAreToldWithThoseThatDo) {
  TestHost host;
  FakeTarget target;
  auto session = Session::open(model(), target, {}, host);
  auto missing = (*session)->run({});
  ASSERT_FALSE(missing);
  EXPECT_THAT(error_of(missing), HasSubstr("RT020: input 'x' is missing"));
  EXPECT_EQ(missing.failure().diagnostics()[0].notes.at(0).message, "the model's inputs are 'x' F32 [2, 3]");
  EXPECT_THAT(error_of((*session)->run({{"x", rows(2)}, {"z", rows(2)}})), HasSubstr("RT020: the model has no input 'z'"));
  EXPECT_THAT(error_of((*session)->run({{"x", Tensor(Shape{2, 4}, std::vector<float>(8))}})),
              HasSubstr("RT021: input 'x' has the shape [2, 4], the model's is [2, 3]"));
  EXPECT_THAT(error_of((*session)->run({{"x", Tensor(Shape{0, 3}, std::vector<float>())}})), HasSubstr("RT021: input 'x' has no rows"));
}

TEST(Session, ProgramsOfThePlanAreChecked) {
  TestHost host;
  FakeTarget target;
  Model m = model();
  m.plan.segments[0].programs = {"run_bwd"};
  EXPECT_THAT(error_of(Session::open(std::move(m), target, {}, host)), HasSubstr("RT015: the plan runs program 'run_bwd'"));
  m = model();
  m.plan.segments[0].programs = {};
  EXPECT_THAT(error_of(Session::open(std::move(m), target, {}, host)), HasSubstr("names no programs"));
  m = model();
  m.program.netlist = parsed(netlist_text(2, ", $p_other"));
  EXPECT_THAT(error_of(Session::open(std::move(m), target, {}, host)), HasSubstr("has the parameter '$p_other'"));
}

graph::Graph finished(ops::Builder& b) {
  auto graph = b.finish();
  if (graph) return std::move(*graph);
  ADD_FAILURE() << graph.failure().diagnostics().front().message;
  return graph::Graph();
}

// ids, x -> (host) table[ids] -> (device) * 10 -> (host) + x, of which the maximum is given, too
Model between_hosts() {
  Model m = model(2);
  ops::Builder before("m");
  auto ids = before.input("ids", {2}, DType::i64);
  auto table = before.parameter("table", Tensor(Shape{3, 3}, std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7, 8}));
  before.output("r.to_device", before.op("gather", {table, ids}, {{"dim", std::int64_t{0}}}));
  ops::Builder behind("m");
  auto x = behind.input("x", {2, 3});
  auto sum = behind.add(behind.input("r.to_host", {2, 3}), x);
  behind.output("y", sum);
  behind.output("most", behind.reduce_max(sum, {1}));
  m.host_graphs.emplace("m.before.graph.json", std::make_shared<const graph::Graph>(finished(before)));
  m.host_graphs.emplace("m.behind.graph.json", std::make_shared<const graph::Graph>(finished(behind)));
  host_plan::Segment device = m.plan.segments[0];
  device.inputs = {m.plan.inputs[0]};
  device.inputs[0].name = "r.to_device";
  device.outputs = {m.plan.outputs[0]};
  device.outputs[0].name = "r.to_host";
  m.plan.segments = {
      {host_plan::SegmentKind::host, "m.before.graph.json", {}}, device, {host_plan::SegmentKind::host, "m.behind.graph.json", {}}};
  m.plan.inputs = {{"ids", "I64", {2}, "", {}}, {"x", "F32", {2, 3}, "", {}}};
  m.plan.outputs = {{"y", "F32", {2, 3}, "", {}}, {"most", "F32", {2, 1}, "", {}}};
  return m;
}

TEST(Session, SegmentsOfTheHostRunBeforeAndBehindTheDevice) {
  TestHost host;
  FakeTarget target;
  auto session = Session::open(between_hosts(), target, {}, host);
  ASSERT_TRUE(session) << error_of(session);
  Tensor ids(Shape{3}, std::vector<std::int64_t>{2, 0, 1}), x(Shape{3, 3}, std::vector<float>{1, 1, 1, 2, 2, 2, 3, 3, 3});
  auto out = (*session)->run({{"ids", ids}, {"x", x}});
  ASSERT_TRUE(out) << error_of(out);
  EXPECT_EQ(out->at("y"), Tensor(Shape{3, 3}, std::vector<float>{61, 71, 81, 2, 12, 22, 33, 43, 53}));
  EXPECT_EQ(out->at("most"), Tensor(Shape{3, 1}, std::vector<float>{81, 22, 53}));
  EXPECT_THAT(target.calls, ElementsAre("write q_w", "push q_x 2", "run run_fwd $p_loop_count=2", "pop q_y 2"))
      << "batches go through the device together";
}

TEST(Session, AModelOfTheHostAloneOpensNoTarget) {
  TestHost host;
  FakeTarget target;
  Model m;
  m.plan = plan();
  ops::Builder all("m");
  all.output("y", all.exp(all.input("x", {2, 3})));
  m.host_graphs.emplace("m.before.graph.json", std::make_shared<const graph::Graph>(finished(all)));
  m.plan.inputs[0].queue = m.plan.outputs[0].queue = "";
  m.plan.segments = {{host_plan::SegmentKind::host, "m.before.graph.json", {}}};
  EXPECT_FALSE(m.uses_device());
  auto session = Session::open(std::move(m), target, {}, host);
  ASSERT_TRUE(session) << error_of(session);
  EXPECT_EQ((*session)->device(), nullptr);
  EXPECT_TRUE((*session)->telemetry().empty());
  auto out = (*session)->run({{"x", Tensor(Shape{5, 3}, std::vector<float>(15, 0))}});
  ASSERT_TRUE(out) << error_of(out);
  EXPECT_EQ(out->at("y"), Tensor(Shape{5, 3}, std::vector<float>(15, 1)));
  EXPECT_TRUE(target.calls.empty());
}

TEST(Session, WhatSegmentsHandOnIsChecked) {
  TestHost host;
  FakeTarget target;
  auto error = [&](Model m) { return error_of(Session::open(std::move(m), target, {}, host)); };
  Model m = between_hosts();
  m.plan.segments.pop_back();
  EXPECT_THAT(error(std::move(m)), HasSubstr("RT016: no segment of the plan provides output 'y'"));
  m = between_hosts();
  m.plan.segments.erase(m.plan.segments.begin());
  EXPECT_THAT(error(std::move(m)), HasSubstr("RT016: the device takes 'r.to_device' (F32 [2, 3]), which no earlier segment provides"));
  m = between_hosts();
  m.plan.inputs[1].shape = {2, 4};
  EXPECT_THAT(error(std::move(m)), HasSubstr("RT016: the graph takes 'x' (F32 [2, 3]), which is F32 [2, 4] there"));
}

TEST(NetlistRun, QueuesAreInputsAndOutputs) {
  TestHost host;
  FakeTarget target;
  Program program;
  std::string text = netlist_text(4);
  text.erase(text.find("  - second"));
  program.netlist = parsed(text);
  Tensor x(Shape{3, 1, 32, 32}, std::vector<float>(3072, 2.0f));
  auto done = run_netlist(program, target, {}, {{"q_x", x}, {"q_w", Tensor(Shape{32, 32}, std::vector<float>(1024, 5.0f))}}, {}, host);
  ASSERT_TRUE(done) << error_of(done);
  EXPECT_EQ(done->outputs.at("q_y"), Tensor(Shape{3, 1, 32, 32}, std::vector<float>(3072, 10.0f)));
  EXPECT_EQ(done->outputs.size(), 1u);
  // As many loops as entries were pushed.
  EXPECT_THAT(target.calls, ElementsAre("push q_x 3", "write q_w", "run run_fwd $p_loop_count=3", "pop q_y 3"));
}

TEST(NetlistRun, SaysWhatIsMissing) {
  TestHost host;
  FakeTarget target;
  Program program;
  program.netlist = parsed(netlist_text(4, ", $p_other"));
  auto run = [&](const NamedTensors& inputs) { return run_netlist(program, target, {}, inputs, {}, host); };
  auto missing = run({{"q_x", tile(1)}, {"q_v", tile(1)}});
  EXPECT_THAT(error_of(missing), HasSubstr("RT020: input 'q_w' is missing"));
  EXPECT_THAT(error_of(missing), HasSubstr("RT020: the netlist has no queue 'q_v' that the host fills"));
  // The list is said once.
  ASSERT_EQ(missing.failure().diagnostics().size(), 2u);
  EXPECT_TRUE(missing.failure().diagnostics()[0].notes.empty());
  EXPECT_EQ(missing.failure().diagnostics()[1].notes.at(0).message, "the netlist's inputs are 'q_x' [N, 1, 32, 32], 'q_w' [1, 1, 32, 32]");
  EXPECT_THAT(error_of(run({{"q_x", Tensor(Shape{32, 31}, std::vector<float>(992))}, {"q_w", tile(1)}})),
              HasSubstr("so [N, 1, 32, 32] is needed"));
  EXPECT_THAT(error_of(run({{"q_x", tile(1)}, {"q_w", tile(1)}})),
              HasSubstr("RT023: program 'run_fwd' needs a value for its parameter '$p_other'"));
}

TEST(Trace, WritesDownCallsInOrder) {
  TestHost host;
  FakeTarget target;
  Trace trace;
  auto recorder = traced(target, trace);
  auto session = Session::open(model(), *recorder, {}, host);
  ASSERT_TRUE(session);
  ASSERT_TRUE((*session)->run({{"x", rows(2)}}));
  EXPECT_THAT(trace, ElementsAre("{\"call\": \"open\", \"netlist\": \"net.yaml\", \"device\": \"\"}\n",
                                 "{\"call\": \"write\", \"queue\": \"q_w\", \"slot\": 0, \"shape\": [1, 1, 32, 32]}\n",
                                 "{\"call\": \"push\", \"queue\": \"q_x\", \"shape\": [1, 1, 32, 32]}\n",
                                 "{\"call\": \"run\", \"program\": \"run_fwd\", \"parameters\": {\"$p_loop_count\": 1}}\n",
                                 "{\"call\": \"pop\", \"queue\": \"q_y\", \"entries\": 1}\n"));
}

}  // namespace
}  // namespace buda::runtime::test
