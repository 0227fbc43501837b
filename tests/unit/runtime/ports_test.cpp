// SPDX-License-Identifier: Apache-2.0
// A plan against its netlist.
#include "fixture.hpp"

#include <gmock/gmock.h>

namespace buda::runtime::test {
namespace {

using host_plan::TransformKind;
using testing::HasSubstr;

class PortsTest : public testing::Test {
 protected:
  Result<Ports> bind() { return bind_ports(plan_, netlist_, parameters_); }
  host_plan::HostPlan plan_ = plan();
  netlist::Netlist netlist_ = parsed(netlist_text(6));
  NamedTensors parameters_ = {{"q_w", tile(1)}};
};

TEST_F(PortsTest, BindTensorsToQueues) {
  auto ports = bind();
  ASSERT_TRUE(ports) << error_of(ports);
  EXPECT_EQ(ports->microbatch, 1);
  EXPECT_EQ(ports->room, 6);
  EXPECT_EQ(ports->inputs.at(0).queued, (Shape{1, 1, 32, 32}));
  EXPECT_EQ(ports->outputs.at(0).shape, (Shape{2, 3}));
}

TEST_F(PortsTest, SeveralEntriesPerBatch) {
  plan_.inputs[0] = {"x", "F32", {2, 32, 32}, "q_x", {{TransformKind::reshape, {2, 1, 32, 32}, 0}}};
  plan_.outputs[0] = {"y", "F32", {2, 32, 32}, "q_y", {{TransformKind::reshape, {2, 32, 32}, 0}}};
  auto ports = bind();
  ASSERT_TRUE(ports) << error_of(ports);
  EXPECT_EQ(ports->microbatch, 2);
  EXPECT_EQ(ports->room, 3);
}

TEST_F(PortsTest, EveryContradictionIsReported) {
  plan_.inputs[0].queue = "q_xx";
  plan_.outputs[0].dtype = "F31";
  parameters_.clear();
  auto ports = bind();
  ASSERT_FALSE(ports);
  EXPECT_THAT(error_of(ports), HasSubstr("RT010: input 'x': the netlist has no queue 'q_xx'"));
  EXPECT_EQ(ports.failure().diagnostics()[0].hint, "did you mean 'q_x'?");
  EXPECT_THAT(error_of(ports), HasSubstr("RT010: output 'y': 'F31' is not an element type"));
  EXPECT_THAT(error_of(ports), HasSubstr("RT014: the host plan does not mention queue 'q_x'"));
  EXPECT_THAT(error_of(ports), HasSubstr("RT014: the host plan does not mention ram 'q_w'"));
}

TEST_F(PortsTest, ShapesHaveToReachTheirQueues) {
  plan_.inputs[0].transforms[1].dims = {0, 0, 30, 61};
  EXPECT_THAT(error_of(bind()), HasSubstr("RT011: input 'x' reaches queue 'q_x' as [1, 1, 32, 64]; the queue's entries are [1, 32, 32]"));
  plan_ = plan();
  plan_.inputs[0].transforms.clear();
  EXPECT_THAT(error_of(bind()), HasSubstr("input 'x' reaches queue 'q_x' as [2, 3]"));
  plan_ = plan();
  plan_.inputs[0].transforms[0].dims = {1, 1, 2, 4};
  EXPECT_THAT(error_of(bind()), HasSubstr("input 'x': transform reshape"));
  plan_ = plan();
  plan_.outputs[0].transforms[0].dims = {1, 1, 2, 4};
  plan_.outputs[0].transforms[1].dims = {2, 4};
  EXPECT_THAT(
      error_of(bind()),
      HasSubstr(
          "RT011: output 'y': the transforms make [2, 4] of the [1, 1, 32, 32] that queue 'q_y' holds, but the model's shape is [2, 3]"));
  plan_ = plan();
  plan_.inputs[0].shape = {-2, 3};
  EXPECT_THAT(error_of(bind()), HasSubstr("has no volume"));
  plan_ = plan();
  parameters_.at("q_w") = Tensor(Shape{1, 1, 32, 16}, std::vector<float>(512));
  EXPECT_THAT(error_of(bind()), HasSubstr("parameter for 'q_w' reaches queue 'q_w' as [1, 1, 32, 16]"));
}

TEST_F(PortsTest, QueuesHaveToBeOfTheRightKindAndSize) {
  plan_.inputs[0].queue = "q_w";
  parameters_.clear();
  EXPECT_THAT(error_of(bind()), HasSubstr("RT012: input 'x': 'q_w' is a ram"));
  plan_ = plan();
  std::swap(plan_.inputs[0].queue, plan_.outputs[0].queue);
  EXPECT_THAT(error_of(bind()), HasSubstr("RT012: input 'x': queue 'q_y' is written by op 'op'"));
  plan_ = plan();
  parameters_ = {{"q_w", tile(1)}};
  plan_.inputs[0] = {"x", "F32", {7, 1, 32, 32}, "q_x", {}};
  EXPECT_THAT(error_of(bind()), HasSubstr("RT013: input 'x' takes 7 entries of queue 'q_x', which has 6"));
  plan_ = plan();
  plan_.inputs.push_back(plan_.inputs[0]);
  EXPECT_THAT(error_of(bind()), HasSubstr("two inputs named 'x'"));
  EXPECT_THAT(error_of(bind()), HasSubstr("queue 'q_x' is used by another tensor of the plan"));
}

TEST_F(PortsTest, HugeShapesCostNothing) {
  plan_.inputs[0].shape = {std::int64_t{1} << 40, 1 << 20};
  plan_.inputs[0].transforms = {{TransformKind::reshape, {std::int64_t{1} << 28, 1, 1 << 16, 1 << 16}, 0}};
  EXPECT_FALSE(bind());
  plan_.inputs[0].shape = {std::int64_t{1} << 40, std::int64_t{1} << 40};
  EXPECT_THAT(error_of(bind()), HasSubstr("has no volume"));
}

// x in the second step is y of the first.
TEST_F(PortsTest, StatesHaveOneQueueWithTheirOutputs) {
  plan_.inputs[0].queue = "q_y";
  plan_.inputs[0].loopback = "y";
  netlist_.graphs[0].ops[0].inputs[0].name = "q_y";
  auto ports = bind();
  ASSERT_TRUE(ports) << error_of(ports);
  ASSERT_EQ(ports->states.size(), 1u);
  EXPECT_TRUE(ports->pushed.empty());
  EXPECT_TRUE(ports->popped.empty());
  EXPECT_TRUE(ports->gives_state("y"));
  EXPECT_FALSE(ports->must_be_given("x"));

  auto broken = [&](auto change) {
    auto kept = plan_;
    change(plan_);
    std::string found = error_of(bind());
    plan_ = kept;
    return found;
  };
  EXPECT_THAT(broken([](auto& p) { p.inputs[0].loopback = "z"; }), HasSubstr("RT010: input 'x' cannot be output 'z'"));
  EXPECT_THAT(broken([](auto& p) { p.inputs[0].queue = "q_x"; }),
              HasSubstr("RT012: input 'x' is output 'y' of the previous step, but no op writes"));
  EXPECT_THAT(broken([](auto& p) { p.outputs[0].queue = ""; }), HasSubstr("the output has to have the queue"));
  EXPECT_THAT(broken([](auto& p) { p.inputs[0].dtype = "F16"; }),
              HasSubstr("RT011: input 'x' cannot be output 'y' of the previous step: the input is F16"));
}

}  // namespace
}  // namespace buda::runtime::test
