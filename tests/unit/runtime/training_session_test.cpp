// SPDX-License-Identifier: Apache-2.0
// The states of a training step, given and taken.
#include "fixture.hpp"

#include <buda/graph/graph.hpp>
#include <buda/graph/tags/training.hpp>
#include <buda/ops/whole_graph/builder.hpp>
#include <buda/runtime/session/training_session.hpp>

#include <gmock/gmock.h>

namespace buda::runtime::test {
namespace {

// loss = x w, and w is x w from the next step on; the host does it all.
Model training_step() {
  ops::Builder b("step");
  auto y = b.multiply(b.input("x", {2, 3}), b.input("w", {2, 3}));
  b.output("loss", y);
  b.output("w.next", y);
  Model m;
  m.plan = plan();
  m.plan.inputs = {{"x", "F32", {2, 3}, "", {}}, {"w", "F32", {2, 3}, "", {}}};
  m.plan.inputs[1].loopback = "w.next";
  m.plan.outputs = {{"loss", "F32", {2, 3}, "", {}}, {"w.next", "F32", {2, 3}, "", {}}};
  m.plan.outputs[0].training = graph::kTrainingLoss;
  m.plan.segments = {{host_plan::SegmentKind::host, "step.graph.json", {}}};
  m.host_graphs.emplace("step.graph.json", std::make_shared<const graph::Graph>(*b.finish()));
  return m;
}

TEST(TrainingSession, TakesTheStatesOfItsModelAndNoOthers) {
  TestHost host;
  FakeTarget target;
  auto session = Session::open(training_step(), target, {}, host);
  ASSERT_TRUE(session) << error_of(session);
  auto training = TrainingSession::make(**session);
  ASSERT_TRUE(training) << error_of(training);
  const Tensor two(Shape{2, 3}, std::vector<float>(6, 2)), three(Shape{2, 3}, std::vector<float>(6, 3));
  ASSERT_TRUE(training->set_states({{"w", three}}));
  auto step = training->step({{"x", two}}, 1);
  ASSERT_TRUE(step) << error_of(step);
  EXPECT_DOUBLE_EQ(step->loss, 6);
  EXPECT_EQ(error_of(training->set_states({})), "RT091: the state 'w' is missing\n");
  EXPECT_EQ(error_of(training->set_states({{"w", Tensor::scalar(1.0f)}})),
            "RT091: the state 'w' is F32 [], and the model's is F32 [2, 3]\n");
  EXPECT_EQ(error_of(training->set_states({{"w", two}, {"v", two}})), "RT091: the model has no state 'v'\n");
}

}  // namespace
}  // namespace buda::runtime::test
