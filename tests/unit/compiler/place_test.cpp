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

}  // namespace
}  // namespace buda::compiler
