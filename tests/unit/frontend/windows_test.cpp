// SPDX-License-Identifier: Apache-2.0
// Padding and counts of sliding windows, against counting them one by one.
#include "operator.hpp"

#include <buda/frontend/windows.hpp>

#include <gtest/gtest.h>

namespace buda::frontend {
namespace {

WindowArguments window(std::int64_t kernel, std::int64_t stride, std::int64_t dilation) { return {{kernel}, {stride}, {dilation}, {0, 0}}; }

// Windows whose last element lies inside.
std::int64_t counted(std::int64_t size, const WindowArguments& w) {
  std::int64_t count = 0, room = size + w.padding[0] + w.padding[1];
  for (std::int64_t at = 0; at + (w.kernel[0] - 1) * w.dilation[0] < room; at += w.stride[0]) ++count;
  return count;
}

TEST(Windows, AreCounted) {
  ops::Builder builder("g");
  TestOperator op(builder);
  for (std::int64_t size = 1; size < 12; ++size)
    for (std::int64_t kernel = 1; kernel < 5; ++kernel)
      for (std::int64_t stride = 1; stride < 4; ++stride)
        for (std::int64_t dilation = 1; dilation < 3; ++dilation) {
          auto w = window(kernel, stride, dilation);
          auto counts = window_counts(op, {size}, w);
          ASSERT_EQ(counts.ok(), counted(size, w) > 0);
          if (counts.ok()) {
            EXPECT_EQ((*counts)[0], counted(size, w)) << size << ' ' << kernel << ' ' << stride << ' ' << dilation;
          }
        }
}

TEST(Windows, WithSamePaddingBeginAtEveryStride) {
  for (std::int64_t size = 1; size < 12; ++size)
    for (std::int64_t kernel = 1; kernel < 5; ++kernel)
      for (std::int64_t stride = 1; stride < 4; ++stride) {
        auto w = window(kernel, stride, 1);
        w.padding = same_padding({size}, w, false);
        EXPECT_EQ(counted(size, w), (size + stride - 1) / stride) << size << ' ' << kernel << ' ' << stride;
        EXPECT_LE(w.padding[0], w.padding[1]);
        auto lower = same_padding({size}, window(kernel, stride, 1), true);
        EXPECT_EQ(lower, (Dims{w.padding[1], w.padding[0]}));
      }
}

TEST(Windows, NameOnlyAttributesThatAreNotStandard) {
  EXPECT_TRUE(window(3, 1, 1).attrs().empty());
  EXPECT_EQ(window(3, 2, 1).attrs().size(), 1u);
}

}  // namespace
}  // namespace buda::frontend
