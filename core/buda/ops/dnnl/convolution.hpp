// SPDX-License-Identifier: Apache-2.0
// Large convolutions in fp32, by oneDNN.
#pragma once

#include <buda/ops/spatial/window.hpp>

#include <cstddef>
#include <cstdint>

namespace buda::ops {

struct ConvShape {
  std::int64_t samples = 0, groups = 1;
  std::int64_t in_channels = 0, out_channels = 0;  // of all groups
  std::size_t rank = 2;                            // spatial axes
  Window window;

  double flops() const;
};

// y = the convolution of x with the weights plus bias (null: none), all in row-major order. Whether oneDNN could do it; if not, y is
// not defined. The result does not depend on the number of threads.
bool conv_by_dnnl(const ConvShape& shape, const float* x, const float* weights, const float* bias, float* y, unsigned threads);

}  // namespace buda::ops
