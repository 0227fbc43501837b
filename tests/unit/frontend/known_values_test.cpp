// SPDX-License-Identifier: Apache-2.0
// Values that do not depend on the model's inputs.
#include <buda/frontend/known_values.hpp>
#include <buda/graph/graph.hpp>
#include <buda/ops/whole_graph/builder.hpp>
#include <buda/tensor/tensor.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace buda::frontend {
namespace {

using ::testing::ElementsAre;

TEST(KnownValues, AreComputedFromConstants) {
  ops::Builder b("g");
  auto x = b.input("x", {2});
  auto one = b.constant(Tensor(Shape{2}, std::vector<float>{1, 2}));
  auto sum = b.add(one, one);
  auto mixed = b.add(sum, x);
  KnownValues known(b.graph());
  ASSERT_NE(known.find(sum), nullptr);
  EXPECT_THAT(known.find(sum)->as<float>(), ElementsAre(2, 4));
  EXPECT_EQ(known.find(x), nullptr);
  EXPECT_EQ(known.find(mixed), nullptr);
  EXPECT_EQ(known.find({}), nullptr);
  EXPECT_THAT(known.inputs_behind(mixed), ElementsAre("x"));
  EXPECT_THAT(known.inputs_behind(sum), ElementsAre());
}

TEST(KnownValues, LeaveNoTraceWhereNobodyUsesThem) {
  ops::Builder b("g");
  auto one = b.constant(Tensor(Shape{2}, std::vector<float>{1, 2}));
  auto sum = b.add(one, one);
  auto used = b.constant(Tensor(Shape{2}, std::vector<float>{3, 4}));
  auto x = b.input("x", {2});
  b.output("y", b.add(x, used));
  KnownValues known(b.graph());
  ASSERT_NE(known.find(sum), nullptr);
  ASSERT_NE(known.find(used), nullptr);
  known.erase_unused(b.graph());
  EXPECT_FALSE(b.graph().contains(sum.node));
  EXPECT_FALSE(b.graph().contains(one.node));
  EXPECT_TRUE(b.graph().contains(used.node));
}

TEST(KnownValues, AreNotComputedWhereTheyAreLarge) {
  ops::Builder b("g");
  auto one = b.constant(Tensor(Shape{1, 1}, std::vector<float>{1}));
  auto large = b.broadcast(one, Shape{1 << 14, 1 << 14});
  KnownValues known(b.graph());
  EXPECT_EQ(known.find(large), nullptr);
}

}  // namespace
}  // namespace buda::frontend
