// SPDX-License-Identifier: Apache-2.0
// Axes and shapes as models name them.
#include "operator.hpp"

#include <buda/frontend/axes.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace buda::frontend {
namespace {

using ::testing::HasSubstr;

class Axes : public ::testing::Test {
 protected:
  template <class T>
  static std::string message(const Result<T>& result) {
    return result.ok() ? "" : result.failure().diagnostics()[0].message;
  }
  ops::Builder builder_{"g"};
  TestOperator op_{builder_};
};

TEST_F(Axes, CountFromTheEndWhereNegative) {
  EXPECT_EQ(*axis_of(op_, -1, 4), 3);
  EXPECT_EQ(*axis_of(op_, 0, 4), 0);
  EXPECT_EQ(*axes_of(op_, {-1, 0}, 3), (Dims{0, 2}));
  EXPECT_THAT(message(axis_of(op_, 4, 4)), HasSubstr("axis 4 is outside [-4, 3]"));
  EXPECT_THAT(message(axes_of(op_, {1, -1}, 2)), HasSubstr("name one axis twice"));
}

TEST_F(Axes, CutAShapeIntoAMatrix) {
  EXPECT_EQ(*as_matrix(op_, Shape{2, 3, 4}, 1), (Shape{2, 12}));
  EXPECT_EQ(*as_matrix(op_, Shape{2, 3, 4}, 0), (Shape{1, 24}));
  EXPECT_THAT(message(as_matrix(op_, Shape{1 << 30, 1 << 30, 1 << 30}, 0)), HasSubstr("too large"));
}

TEST_F(Axes, ReshapesLeaveOneSizeOpen) {
  EXPECT_EQ(*reshape_target(op_, Shape{2, 3, 4}, {-1, 4}, true), (Shape{6, 4}));
  EXPECT_EQ(*reshape_target(op_, Shape{2, 3, 4}, {0, -1}, true), (Shape{2, 12}));
  EXPECT_EQ(*reshape_target(op_, Shape{0, 3}, {3, 0}, false), (Shape{3, 0}));
  EXPECT_THAT(message(reshape_target(op_, Shape{2, 3}, {-1, -1}, true)), HasSubstr("more than one -1"));
  EXPECT_THAT(message(reshape_target(op_, Shape{2, 3}, {4, -1}, true)), HasSubstr("do not divide evenly"));
  EXPECT_THAT(message(reshape_target(op_, Shape{2, 3}, {3, 0, 0}, true)), HasSubstr("copies dimension 2"));
}

TEST_F(Axes, AlignShapesForBroadcasting) {
  EXPECT_EQ(*aligned_from(op_, Shape{3}, Shape{2, 3, 4, 5}, 1), (Shape{3, 1, 1}));
  EXPECT_EQ(*aligned_from(op_, Shape{4, 5}, Shape{2, 3, 4, 5}, -2), (Shape{4, 5}));
  EXPECT_THAT(message(aligned_from(op_, Shape{4, 5}, Shape{2, 3}, 1)), HasSubstr("does not fit into"));
  EXPECT_EQ(channel_shape(8, 4), (Shape{8, 1, 1}));
}

}  // namespace
}  // namespace buda::frontend
