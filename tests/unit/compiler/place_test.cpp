// SPDX-License-Identifier: Apache-2.0
// The balancer as an embedding program calls it, behind the optimizer.
#include "unit/compiler/stages.hpp"

#include <gmock/gmock.h>

namespace buda::compiler {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

class Place : public Stages {
 protected:
  Result<Placed> placed() {
    graph::Graph graph = classifier();
    BUDA_TRY(optimize(graph));
    return place(std::move(graph), device_, balancer_, {build_plugins(), plugin_options_}, host_);
  }

  device::DeviceDescriptor device_ = device();
};

TEST_F(Place, APolicyIsFoundByItsNameInPyBuda) {
  set(balancer_names_, "balancer_policy", "MinimizeGrid");
  auto out = placed();
  ASSERT_TRUE(out) << message(out.failure());
  EXPECT_TRUE(out->segments.device.has_value());
  EXPECT_EQ(out->balanced.report.policy, "minimize_grid");
  EXPECT_THAT(out->netlist, ContainsRegex("fc: +\\{type: matmul, grid_loc: \\[0, 0\\], grid_size: \\[1, 1\\]"));
}

TEST_F(Place, OptionsOfSingleOpsAreReadByTheirKeys) {
  set(balancer_names_, "op.fc.u_kt", "1");
  auto out = placed();
  ASSERT_TRUE(out) << message(out.failure());
  EXPECT_THAT(out->netlist, HasSubstr("u_kt: 1"));
  set(balancer_names_, "op.fc.u_kt", "3");
  out = placed();
  ASSERT_FALSE(out);
  EXPECT_THAT(message(out.failure()), HasSubstr("u_kt 3 does not divide"));
}

TEST_F(Place, APolicyThatDoesNotExistIsNamedAsItWasGiven) {
  set(balancer_names_, "balancer_policy", "MinimiseGrid");
  auto out = placed();
  ASSERT_FALSE(out);
  EXPECT_THAT(message(out.failure()), HasSubstr("no policy named 'MinimiseGrid'"));
}

TEST_F(Place, AValueThatNoCommandLineGivesIsRefused) {
  const auto refused = [&](auto change) {
    const BalancerOptions standard = balancer_;
    change(balancer_);
    const auto out = placed();
    balancer_ = standard;
    return out ? std::string("nothing") : message(out.failure());
  };
  EXPECT_EQ(refused([](BalancerOptions& o) { o.self_cut = static_cast<balance::SelfCut>(9); }),
            "option --self-cut: 'number 9' is illegal; allowed: None, FastCut, ConsumerOperandDataEdgesFirst, ProducerUserDataEdgesFirst");
  EXPECT_EQ(refused([](BalancerOptions& o) { o.scheduler = static_cast<balance::SchedulePolicy>(2); }),
            "option --scheduler: 'number 3' is illegal; allowed: auto, ModuleInputsBFS, Topological");
  EXPECT_EQ(refused([](BalancerOptions& o) { o.effort = 4; }), "option --effort: 4 is out of range; allowed: 0 to 3");
  EXPECT_EQ(refused([](BalancerOptions& o) { o.microbatch = 0; }), "option --microbatch: 0 is out of range; allowed: 1 to 16383");
  EXPECT_EQ(refused([](BalancerOptions&) {}), "nothing");
}

}  // namespace
}  // namespace buda::compiler
