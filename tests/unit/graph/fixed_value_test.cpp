// SPDX-License-Identifier: Apache-2.0
// Texts of values that were fixed.
#include <buda/graph/graph.hpp>
#include <buda/graph/tags/fixed_value.hpp>
#include <buda/tensor/tensor.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace buda::graph {
namespace {

Tensor reals(std::vector<float> v) {
  const auto size = static_cast<std::int64_t>(v.size());
  return Tensor(Shape{size}, std::move(v));
}

TEST(FixedValue, ShortOnesAreListed) {
  EXPECT_EQ(fixed_value_text(Tensor(Shape{2}, std::vector<std::int64_t>{3, std::int64_t{1} << 62})), "[3, 4611686018427387904]");
  EXPECT_EQ(fixed_value_text(Tensor::scalar(std::uint8_t{200})), "[200]");
  EXPECT_EQ(fixed_value_text(Tensor::scalar(Boolean{7})), "[true]");
  EXPECT_EQ(fixed_value_text(reals({})), "[]");
  EXPECT_EQ(fixed_value_text(reals({0.5f, -0.0f, std::nanf("1"), -std::numeric_limits<float>::infinity()})), "[0.5, 0, nan, -inf]");
  EXPECT_EQ(fixed_value_text(reals({1.5f}).cast(DType::bf16)), "[1.5]");
}

TEST(FixedValue, LongOnesHaveAFingerprint) {
  std::vector<float> many(64, 1.0f);
  EXPECT_EQ(fixed_value_text(reals(many)).front(), '[');
  many.push_back(1.0f);
  const std::string text = fixed_value_text(reals(many));
  EXPECT_EQ(text.size(), 6u + 16u);
  EXPECT_EQ(text.substr(0, 6), "fnv1a:");
  EXPECT_EQ(text, fixed_value_text(reals(many)));
  many[64] = std::nextafter(1.0f, 2.0f);
  EXPECT_NE(text, fixed_value_text(reals(many)));
}

TEST(FixedValue, IsATagOfTheInput) {
  Graph g("m");
  auto id = g.add("x", std::string(kInputOp));
  EXPECT_EQ(fixed_value_of(g.node(id)), "");
  g.node(id).tags[kFixedValue] = "[1]";
  EXPECT_EQ(fixed_value_of(g.node(id)), "[1]");
}

}  // namespace
}  // namespace buda::graph
