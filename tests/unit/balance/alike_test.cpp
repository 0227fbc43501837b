// SPDX-License-Identifier: Apache-2.0
// Which ops share their legal models.
#include "unit/balance/fixture.hpp"

#include <buda/balance/models/alike.hpp>

namespace buda::balance {
namespace {

std::vector<std::size_t> first_alike_of(const graph::Graph& graph) {
  auto order = schedule(graph, SchedulePolicy::topological, {});
  auto problem = make_problem(graph, order, board("n150"));
  EXPECT_TRUE(problem.ok()) << text_of(problem.failure());
  return problem.ok() ? first_alike(*problem) : std::vector<std::size_t>{};
}

TEST(Alike, AreLayersOfOneShapeAndNoOthers) {
  // The first reads a queue, and the last feeds an output.
  EXPECT_EQ(first_alike_of(perceptron(32, {64, 64, 64, 64, 96, 96, 64})), (std::vector<std::size_t>{0, 1, 1, 3, 4, 5}));
}

TEST(Alike, DependsOnAttributesAndFormats) {
  DeviceGraph g;
  auto x = g.input("x", {1, 1, 32, 64});
  graph::NodeId last = x;
  const Shape shape{1, 1, 32, 64};
  last = g.op("a", "exp", {last}, shape);
  last = g.op("b", "exp", {last}, shape);
  last = g.op("c", "exp", {last}, shape, {{"approximate_mode", true}});
  last = g.op("d", "exp", {last}, shape, {}, DataFormat::bfp8_b);
  last = g.op("e", "exp", {last}, shape);
  last = g.op("f", "sqrt", {last}, shape);
  g.output("y", last);
  const auto found = first_alike_of(g.graph);
  // The first reads a queue, and e an operand of another format.
  EXPECT_EQ(found, (std::vector<std::size_t>{0, 1, 2, 3, 4, 5}));
}

TEST(Alike, OpsHaveEqualModels) {
  graph::Graph graph = perceptron(64, {256, 256, 256, 256, 256});
  auto order = schedule(graph, SchedulePolicy::topological, {});
  auto problem = make_problem(graph, order, board("n150"));
  ASSERT_TRUE(problem.ok());
  auto first = first_alike(*problem);
  EXPECT_EQ(first, (std::vector<std::size_t>{0, 1, 1, 3}));
  for (std::size_t i = 0; i < first.size(); ++i) {
    auto own = legal_models(problem->ops[i], board("n150"), {}, nullptr);
    EXPECT_EQ(own.models, legal_models(problem->ops[first[i]], board("n150"), {}, nullptr).models);
    EXPECT_FALSE(own.models.empty());
  }
}

}  // namespace
}  // namespace buda::balance
