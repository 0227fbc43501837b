// SPDX-License-Identifier: Apache-2.0
// What importers of TensorFlow and TensorFlow Lite make of reductions, joins, slices and images.
#include "operator.hpp"

#include <buda/frontend/arithmetic.hpp>
#include <buda/frontend/indexing.hpp>
#include <buda/frontend/joins.hpp>
#include <buda/frontend/model_name.hpp>
#include <buda/frontend/reductions.hpp>
#include <buda/frontend/resizing.hpp>
#include <buda/frontend/slices.hpp>
#include <buda/graph/graph.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace buda::frontend {
namespace {

using ::testing::HasSubstr;
using Ref = graph::ValueRef;

class SharedImporters : public ::testing::Test {
 protected:
  template <class T>
  static std::string message(const Result<T>& result) {
    return result.ok() ? "" : result.failure().diagnostics()[0].message;
  }
  Ref input(const std::string& name, Shape shape) { return builder_.input(name, std::move(shape)); }
  // As the file has it, of an image [1, 3, 5, 7] with channels first.
  Ref image(const std::string& name) {
    Ref first = input(name, {1, 3, 5, 7});
    return layouts_.channels_last(builder_.named(name + ".last"), first);
  }
  std::string shape(Ref value) {
    const auto* type = builder_.graph().type(value);
    return type == nullptr ? "none" : type->shape.text();
  }

  ops::Builder builder_{"g"};
  TestOperator op_{builder_};
  Layouts layouts_;
};

TEST_F(SharedImporters, NameAModelAfterItsFile) {
  EXPECT_EQ(model_name("models/mlp.v2.onnx"), "mlp.v2");
  EXPECT_EQ(model_name(".hidden"), ".hidden");
  EXPECT_EQ(model_name("-"), "model");
}

TEST_F(SharedImporters, ReduceImagesWithChannelsFirst) {
  EXPECT_EQ(*reduced_axes(op_, {-1, 1, 3}, 4), (Dims{1, 3}));
  EXPECT_THAT(message(reduced_axes(op_, {4}, 4)), HasSubstr("axis 4"));
  Ref x = image("x");
  Ref mean = reduced(op_, layouts_, x, "reduce_avg", {1, 2}, false);
  EXPECT_EQ(shape(mean), "[1, 3]");
  EXPECT_EQ(builder_.graph().node(mean.node).inputs()[0].source.node, builder_.graph().find("x"));
  EXPECT_EQ(shape(reduced(op_, layouts_, x, "reduce_avg", {1, 2}, true)), "[1, 1, 1, 3]");
  EXPECT_EQ(reduced(op_, layouts_, x, "reduce_avg", {}, true), x);
}

TEST_F(SharedImporters, JoinImagesWithChannelsFirst) {
  Ref a = image("a"), b = image("b"), c = input("c", {1, 5, 7, 3});
  auto images = joined(op_.result(), layouts_, {a, b}, 3, 4);
  EXPECT_TRUE(images.channels_first);
  EXPECT_EQ(shape(images.value), "[1, 6, 5, 7]");
  auto mixed = joined(op_.result(), layouts_, {a, c}, 3, 4);
  EXPECT_FALSE(mixed.channels_first);
  EXPECT_EQ(shape(mixed.value), "[1, 5, 7, 6]");
}

TEST_F(SharedImporters, CutAsTheSizesSay) {
  const Shape x{2, 7};
  EXPECT_EQ(*part_sizes(op_, x, 1, {2, -1, 1}), (Dims{2, 4, 1}));
  EXPECT_EQ(*part_sizes(op_, x, 1, {0, 7}), (Dims{0, 7}));
  EXPECT_THAT(message(part_sizes(op_, x, 1, {5, 3})), HasSubstr("do not fit axis 1 of [2, 7]"));
  EXPECT_THAT(message(part_sizes(op_, x, 1, {-2, 7})), HasSubstr("do not fit"));
  EXPECT_EQ(*equal_sizes(op_, x, 1, 7), Dims(7, 1));
  EXPECT_THAT(message(equal_sizes(op_, x, 1, 2)), HasSubstr("cannot be cut into 2 equal parts"));
  EXPECT_THAT(message(equal_sizes(op_, x, 1, 0)), HasSubstr("cannot be cut into 0"));
  auto parts = parts_of(op_, input("x", x), 1, {2, 4, 1});
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(shape(parts[1]), "[2, 4]");
  auto rows = unstacked(op_, input("y", x), 0, 2);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(shape(rows[1]), "[7]");
  EXPECT_EQ(shape(stacked(op_, rows, 1)), "[7, 2]");
}

TEST_F(SharedImporters, OrderAxesAndPadThem) {
  EXPECT_EQ(*permutation_of(op_, {0, -1, 1}, 3), (Dims{0, 2, 1}));
  EXPECT_THAT(message(permutation_of(op_, {0, 0, 1}, 3)), HasSubstr("is not one of 3 axes"));
  EXPECT_THAT(message(permutation_of(op_, {0, 1}, 3)), HasSubstr("is not one of 3 axes"));
  EXPECT_EQ(shape(padded(op_, layouts_, image("x"), {{0, 1, 2, 3}, {0, 0, 0, 1}}, 0)), "[1, 6, 9, 7]");
}

TEST_F(SharedImporters, GatherByTheIndicesOfEachSample) {
  Ref table = input("t", {4, 9, 5}), indices = builder_.input("i", Shape{4, 3}, DType::i32);
  EXPECT_EQ(shape(*gathered(op_, table, {4, 9, 5}, indices, {4, 3}, 1, 0)), "[4, 4, 3, 5]");
  EXPECT_EQ(shape(*gathered(op_, table, {4, 9, 5}, indices, {4, 3}, 1, -1)), "[4, 3, 5]");
  EXPECT_THAT(message(gathered(op_, table, {4, 9, 5}, indices, {4, 3}, 2, 1)), HasSubstr("both must be equal"));
}

TEST_F(SharedImporters, ResizeImages) {
  EXPECT_EQ(shape(*resized(op_, layouts_, image("x"), {1, 5, 7, 3}, {10, 11}, nearest_attrs(false, true))), "[1, 10, 11, 3]");
  EXPECT_THAT(message(resized(op_, layouts_, input("y", {5, 7}), {5, 7}, {10, 11}, bilinear_attrs(false, false))), HasSubstr("are needed"));
}

TEST_F(SharedImporters, TakeOperandsOfImages) {
  Ref x = image("x"), bias = input("b", {3}), row = input("r", {7, 1});
  auto both = element_operands(op_, layouts_, {x, {}}, {bias, Shape{3}});
  EXPECT_TRUE(both.channels_first);
  EXPECT_EQ(shape(both.b), "[3, 1, 1]");
  EXPECT_FALSE(element_operands(op_, layouts_, {x, {}}, {bias, {}}).channels_first) << "its shape is not known to be one for each channel";
  EXPECT_FALSE(element_operands(op_, layouts_, {x, {}}, {row, Shape{7, 1}}).channels_first);
}

}  // namespace
}  // namespace buda::frontend
