// SPDX-License-Identifier: Apache-2.0
// Cutting into batches, with several inputs.
#include <buda/runtime/batches.hpp>
#include <buda/tensor/tensor.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>

namespace buda::runtime {
namespace {

using testing::HasSubstr;
using testing::Not;

class BatchesTest : public testing::Test {
 protected:
  void input(const std::string& name, Shape shape) { add(ports_.inputs, name, std::move(shape)); }
  void output(const std::string& name, Shape shape) { add(ports_.outputs, name, std::move(shape)); }
  static Tensor zeros(Shape shape) { return *Tensor::zeros(DType::f32, std::move(shape)); }
  std::string error(const NamedTensors& inputs) {
    auto r = plan_batches(ports_, inputs);
    return r.ok() ? "(no error)" : r.failure().diagnostics().front().message;
  }
  Ports ports_;
  std::deque<host_plan::PlanTensor> names_;

 private:
  void add(std::vector<Port>& to, const std::string& name, Shape shape) {
    names_.push_back({});
    names_.back().name = name;
    Port p;
    p.tensor = &names_.back();
    p.shape = std::move(shape);
    to.push_back(p);
  }
};

TEST_F(BatchesTest, ExactShapesAreOneBatchWhateverTheyAre) {
  input("a", {4, 3});
  input("b", {});
  output("y", {7});
  auto b = plan_batches(ports_, {{"a", zeros({4, 3})}, {"b", zeros({})}});
  ASSERT_TRUE(b);
  EXPECT_EQ(b->rows, 0);
  EXPECT_EQ(b->count, 1);
}

TEST_F(BatchesTest, RowsThatDependOnEachOtherAreOneBatch) {
  input("a", {4, 3});
  output("y", {4, 2});
  names_.back().rows_mixed_by = "mean";
  EXPECT_EQ(plan_batches(ports_, {{"a", zeros({4, 3})}})->rows, 0);
  for (std::int64_t rows : {1, 3, 5, 8}) EXPECT_THAT(error({{"a", zeros({rows, 3})}}), HasSubstr("'mean' makes the rows of output 'y'"));
  ports_.states.push_back({ports_.inputs[0], ports_.outputs[0], std::nullopt});
  EXPECT_EQ(plan_batches(ports_, {})->rows, 0);
}

TEST_F(BatchesTest, RowsHaveToAgree) {
  input("a", {4, 3});
  input("b", {4, 5});
  output("y", {4, 2});
  auto b = plan_batches(ports_, {{"a", zeros({10, 3})}, {"b", zeros({10, 5})}});
  ASSERT_TRUE(b);
  EXPECT_EQ(b->rows, 10);
  EXPECT_EQ(b->count, 3);
  EXPECT_EQ(b->padded(), 2);
  EXPECT_EQ(b->text(), "10 rows run as 3 batches of 4, the last one padded with 2 rows of zeros");
  EXPECT_EQ(plan_batches(ports_, {{"a", zeros({8, 3})}, {"b", zeros({8, 5})}})->text(), "8 rows run as 2 batches of 4");
  EXPECT_THAT(error({{"a", zeros({10, 3})}, {"b", zeros({9, 5})}}), HasSubstr("inputs 'a' and 'b' have 10 and 9 rows"));
  EXPECT_THAT(error({{"a", zeros({10, 3})}, {"b", zeros({4, 5})}}), HasSubstr("have 10 and 4 rows"));
}

TEST_F(BatchesTest, AllInputsAndOutputsNeedTheBatch) {
  input("a", {4, 3});
  input("b", {1, 5});
  output("y", {4, 2});
  EXPECT_THAT(error({{"a", zeros({8, 3})}, {"b", zeros({8, 5})}}), HasSubstr("'a' has 4 rows per batch and 'b' 1"));
  // The one whose shape is wrong is named.
  EXPECT_THAT(error({{"a", zeros({4, 3})}, {"b", zeros({4, 5})}}), HasSubstr("input 'b' has the shape [4, 5], the model's is [1, 5]"));
  EXPECT_THAT(error({{"a", zeros({4, 3})}, {"b", zeros({4, 5})}}), Not(HasSubstr("input 'a' has")));
  ports_.inputs.pop_back();
  output("sum", {1});
  EXPECT_THAT(error({{"a", zeros({8, 3})}}), HasSubstr("output 'sum' has the shape [1], without the batch of 4"));
}

TEST_F(BatchesTest, TypesAreConvertedWhereNothingIsLost) {
  input("i", {2});
  ports_.inputs[0].dtype = DType::i8;
  EXPECT_EQ(*with_dtype(ports_.inputs[0], Tensor(Shape{2}, std::vector<std::int64_t>{-128, 127})),
            Tensor(Shape{2}, std::vector<std::int8_t>{-128, 127}));
  EXPECT_FALSE(with_dtype(ports_.inputs[0], Tensor(Shape{2}, std::vector<std::int64_t>{-128, 128})));
  EXPECT_FALSE(with_dtype(ports_.inputs[0], Tensor(Shape{2}, std::vector<float>{1, 2})));
}

TEST(Rows, AreCutAndJoined) {
  Tensor t(Shape{3, 2}, std::vector<std::int16_t>{1, 2, 3, 4, 5, 6});
  EXPECT_EQ(*rows_of(t, 1, 1), Tensor(Shape{1, 2}, std::vector<std::int16_t>{3, 4}));
  EXPECT_EQ(*rows_of(t, 2, 2), Tensor(Shape{2, 2}, std::vector<std::int16_t>{5, 6, 0, 0}));
  EXPECT_EQ(*joined({*rows_of(t, 0, 2), *rows_of(t, 2, 2)}, 3), t);
  EXPECT_EQ(*joined({t}), t);
  EXPECT_EQ(*joined({t}, 1), Tensor(Shape{1, 2}, std::vector<std::int16_t>{1, 2}));
}

}  // namespace
}  // namespace buda::runtime
