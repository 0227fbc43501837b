// SPDX-License-Identifier: Apache-2.0
// Shapes after tensor manipulations.
#include <buda/graph/tm.hpp>

#include <gtest/gtest.h>

#include <limits>

namespace buda::graph {
namespace {

constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();

TEST(Tm, ShapesAsTheTableSays) {
  const Shape s{2, 4, 64, 96};
  EXPECT_EQ(*shape_after(s, Tm::broadcast(TmDim::r, 3)), (Shape{2, 4, 192, 96}));
  EXPECT_EQ(*shape_after(s, Tm::broadcast(TmDim::c, 3)), (Shape{2, 4, 64, 288}));
  EXPECT_EQ(*shape_after(s, Tm::broadcast(TmDim::z, 3)), (Shape{2, 12, 64, 96}));
  EXPECT_EQ(*shape_after(s, Tm::transpose()), (Shape{2, 4, 96, 64}));
  EXPECT_EQ(*shape_after(s, Tm::hslice(3)), (Shape{2, 12, 64, 32}));
  EXPECT_EQ(*shape_after(s, Tm::vslice(2)), (Shape{2, 8, 32, 96}));
  EXPECT_EQ(*shape_after(s, Tm::hstack(4)), (Shape{2, 1, 64, 384}));
  EXPECT_EQ(*shape_after(s, Tm::vstack(2)), (Shape{2, 2, 128, 96}));
  EXPECT_EQ(*shape_after(s, Tm::pad(1, 2, 0.5)), (Shape{2, 4, 96, 160}));
  EXPECT_EQ(*shape_after(s, Tm::unpad(1, 2)), (Shape{2, 4, 32, 32}));
  EXPECT_EQ(*shape_after(s, {Tm::hslice(3), Tm::vstack(12)}), (Shape{2, 1, 768, 32}));
  EXPECT_EQ(*shape_after({7}, std::vector<Tm>{}), (Shape{7}));
}

TEST(Tm, Refusals) {
  const Shape s{1, 2, 64, 96};
  auto why = [](const Shape& in, const Tm& tm) {
    auto result = shape_after(in, tm);
    if (result) return "gives " + result->text();
    std::string m = result.failure().diagnostics()[0].message;
    return m.substr(m.find("]: ") + 3);
  };
  EXPECT_EQ(why(s, Tm::hslice(2)), "its 96 columns do not divide into 2 parts of whole tiles");
  EXPECT_EQ(why(s, Tm::vslice(64)), "its 64 rows do not divide into 64 parts of whole tiles");
  EXPECT_EQ(why(s, Tm::hstack(3)), "its z is not a multiple of 3");
  EXPECT_EQ(why(s, Tm::vstack(0)), "the factor must be at least 1");
  EXPECT_EQ(why(s, Tm::broadcast(TmDim::r, -1)), "the factor must be at least 1");
  EXPECT_EQ(why(s, Tm::broadcast(TmDim::c, kHuge)), "the result is too large");
  EXPECT_EQ(why(s, Tm::broadcast(TmDim::z, kHuge / 100)), "the result is too large");
  EXPECT_EQ(why(s, Tm::pad(-1, 0, 0)), "the number of tiles must not be negative");
  EXPECT_EQ(why(s, Tm::pad(kHuge, 0, 0)), "the result is too large");
  EXPECT_EQ(why(s, Tm::unpad(2, 0)), "nothing would remain of its 64 rows");
  EXPECT_EQ(why(s, Tm::unpad(0, 4)), "nothing would remain of its 96 columns");
  EXPECT_EQ(why({2, 64, 96}, Tm::transpose()), "it must have the four axes (w, z, r, c)");
  EXPECT_EQ(why({1, 1, -32, 32}, Tm::transpose()), "this is not a legal shape");
}

TEST(Tm, TextAsInANetlist) {
  EXPECT_EQ(Tm::broadcast(TmDim::z, 4).text(), "broadcast: {z: 4}");
  EXPECT_EQ(Tm::transpose().text(), "transpose");
  EXPECT_EQ(Tm::hslice(2).text(), "hslice: 2");
  EXPECT_EQ(Tm::pad(1, 0, -0.5).text(), "pad: [1, 0, -0.5]");
  EXPECT_EQ(Tm::unpad(0, 3).text(), "unpad: [0, 3]");
}

}  // namespace
}  // namespace buda::graph
