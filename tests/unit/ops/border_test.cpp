// SPDX-License-Identifier: Apache-2.0
// to_device and to_host: what they do to a value is what a device graph's border does.
#include <buda/ops/device/border.hpp>

#include <buda/graph/tags/placement.hpp>
#include <buda/ops/table/evaluate_call.hpp>
#include <buda/ops/table/registry.hpp>
#include <buda/tensor/tensor.hpp>

#include <gtest/gtest.h>

#include <numeric>

namespace buda::ops {
namespace {

using Dims = std::vector<std::int64_t>;

Tensor counted(const Shape& shape) {
  std::vector<float> v(static_cast<std::size_t>(*shape.volume()));
  std::iota(v.begin(), v.end(), 1.0f);
  return Tensor(shape, std::move(v));
}

Result<Tensor> run_border(Level level, std::string_view op, const Tensor& in, const AttrMap& attrs) {
  auto out = evaluate(*standard_ops().find(level, op), std::span(&in, 1), attrs, 1);
  if (!out) return std::move(out).failure();
  return (*out)[0];
}

Result<Tensor> to_device_op(const Tensor& in, const AttrMap& attrs) { return run_border(Level::device, graph::kToDevice, in, attrs); }
Result<Tensor> to_host_op(const Tensor& in, const AttrMap& attrs) { return run_border(Level::tensor, graph::kToHost, in, attrs); }

TEST(Border, PadsAndCuts) {
  const AttrMap attrs = {{"model_shape", Dims{2, 3}}};
  auto there = to_device_op(counted({2, 3}), attrs);
  ASSERT_TRUE(there);
  EXPECT_EQ(there->shape(), (Shape{1, 1, 32, 32}));
  EXPECT_EQ(there->as<float>()[2], 3);
  EXPECT_EQ(there->as<float>()[3], 0);
  EXPECT_EQ(there->as<float>()[32], 4);
  auto back = to_host_op(*there, attrs);
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, counted({2, 3}));
}

TEST(Border, BringsIntoAnotherOrder) {
  const AttrMap into = {{"model_shape", Dims{6}}, {"view_shape", Dims{3, 2}}, {"view_split", Dims{2, 3}}, {"view_order", Dims{1, 0}}};
  auto there = to_device_op(counted({6}), into);
  ASSERT_TRUE(there);
  EXPECT_EQ(there->as<float>()[1], 4) << "column 1 of row 0 of the transposed value";
  // The way back splits the view.
  const AttrMap out = {{"model_shape", Dims{6}}, {"view_shape", Dims{3, 2}}, {"view_split", Dims{3, 2}}, {"view_order", Dims{1, 0}}};
  auto back = to_host_op(*there, out);
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, counted({6}));
}

TEST(Border, WholeNumbersAreFloatsOnTheDevice) {
  const AttrMap attrs = {{"model_shape", Dims{2}}, {"model_type", std::string("I64")}};
  auto there = to_device_op(Tensor(Shape{2}, std::vector<std::int64_t>{7, -3}), attrs);
  ASSERT_TRUE(there);
  EXPECT_EQ(there->dtype(), DType::f32);
  auto back = to_host_op(*there, attrs);
  ASSERT_TRUE(back);
  EXPECT_EQ(*back, Tensor(Shape{2}, std::vector<std::int64_t>{7, -3}));
}

TEST(Border, RefusesWhatIsNotAsItSays) {
  EXPECT_FALSE(to_device_op(counted({2, 3}), {{"model_shape", Dims{3, 2}}}));
  EXPECT_FALSE(to_device_op(counted({2, 3}), {{"model_shape", Dims{2, 3}}, {"model_type", std::string("I64")}}));
  EXPECT_FALSE(to_device_op(counted({2, 3}), {{"model_shape", Dims{2, 3}}, {"model_type", std::string("text")}}));
  EXPECT_FALSE(to_device_op(counted({2, 3}), {{"model_shape", Dims{2, 3}}, {"view_shape", Dims{7}}}));
  EXPECT_FALSE(to_device_op(counted({0, 3}), {{"model_shape", Dims{0, 3}}})) << "a value without elements";
  EXPECT_FALSE(to_host_op(counted({1, 1, 32, 32}), {{"model_shape", Dims{2, 33}}}));
  EXPECT_FALSE(to_host_op(counted({1, 1, 32, 32}), {}));
}

}  // namespace
}  // namespace buda::ops
