// SPDX-License-Identifier: Apache-2.0
// Shapes: volume that cannot overflow, strides, broadcasting.
#include <buda/tensor/shape.hpp>

#include <gtest/gtest.h>

#include <limits>

namespace buda {
namespace {

using Dims = std::vector<std::int64_t>;
constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();

TEST(Shape, Volume) {
  EXPECT_EQ(Shape{}.volume(), 1);
  EXPECT_EQ((Shape{2, 3, 4}).volume(), 24);
  EXPECT_EQ((Shape{0}).volume(), 0);
  EXPECT_EQ((Shape{kHuge, 0, kHuge}).volume(), 0) << "no overflow on the way to 0";
  EXPECT_EQ((Shape{kHuge}).volume(), kHuge);
  EXPECT_EQ((Shape{kHuge, 2}).volume(), std::nullopt);
  EXPECT_EQ((Shape{std::int64_t{1} << 32, std::int64_t{1} << 32}).volume(), std::nullopt) << "would wrap to 0";
  EXPECT_EQ((Shape{-1, 4}).volume(), std::nullopt);
  EXPECT_EQ((Shape{0, -1}).volume(), std::nullopt);
  EXPECT_EQ((Shape{-2, -2}).volume(), std::nullopt);
}

TEST(Shape, Text) {
  EXPECT_EQ((Shape{2, 3}).text(), "[2, 3]");
  EXPECT_EQ(Shape{}.text(), "[]");
}

TEST(Shape, Strides) {
  EXPECT_EQ((Shape{2, 3, 4}).strides(), (Dims{12, 4, 1}));
  EXPECT_EQ(Shape{}.strides(), Dims{});
  EXPECT_EQ((Shape{2, 0, kHuge}).strides(), (Dims{0, 0, 0}));
}

TEST(Shape, Axis) {
  Shape s{5, 6, 7};
  EXPECT_EQ(s.axis(0), 0u);
  EXPECT_EQ(s.axis(2), 2u);
  EXPECT_EQ(s.axis(-1), 2u);
  EXPECT_EQ(s.axis(-3), 0u);
  EXPECT_EQ(s.axis(3), std::nullopt);
  EXPECT_EQ(s.axis(-4), std::nullopt);
  EXPECT_EQ(Shape{}.axis(0), std::nullopt);
}

TEST(Shape, Order) {
  EXPECT_EQ((Shape{1, 2}), Shape(Dims{1, 2}));
  EXPECT_LT((Shape{1, 2}), (Shape{1, 3}));
}

TEST(Shape, Broadcast) {
  EXPECT_EQ(broadcast({2, 3}, {3}), (Shape{2, 3}));
  EXPECT_EQ(broadcast({3}, {2, 3}), (Shape{2, 3}));
  EXPECT_EQ(broadcast({2, 1, 4}, {3, 1}), (Shape{2, 3, 4}));
  EXPECT_EQ(broadcast({}, {2}), (Shape{2}));
  EXPECT_EQ(broadcast({1}, {0}), (Shape{0})) << "1 stretches to 0, too";
  EXPECT_EQ(broadcast({2}, {0}), std::nullopt);
  EXPECT_EQ(broadcast({2, 3}, {2}), std::nullopt);
}

TEST(Shape, BroadcastStrides) {
  EXPECT_EQ(broadcast_strides({3, 1}, {2, 3, 4}), (Dims{0, 1, 0}));
  EXPECT_EQ(broadcast_strides({2, 3, 4}, {2, 3, 4}), (Dims{12, 4, 1}));
  EXPECT_EQ(broadcast_strides({}, {5}), (Dims{0}));
  EXPECT_EQ(broadcast_strides({1}, {1}), (Dims{1}));
}

}  // namespace
}  // namespace buda
