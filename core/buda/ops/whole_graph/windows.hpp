// SPDX-License-Identifier: Apache-2.0
// Convolutions, pools and normalization with the arguments of PyBuda's operations: one number for both axes, padding that keeps the size,
// channels behind rows and columns.
//
//   ops::Windows same{.stride = {2}, .padding = ops::Padding::same(), .channel_last = true};
//   auto y = ops::conv2d(b, x, weights, {}, same);             // x [1, 224, 224, 3], weights [64, 3, 7, 7]: y [1, 112, 112, 64]
#pragma once

#include <buda/ops/whole_graph/builder.hpp>

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)

namespace buda::ops {

// Elements added around rows and columns: a number for all sides, numbers for rows and columns, or left, right, top, bottom.
struct Padding {
  Padding(std::int64_t all = 0) : sizes{all} {}                          // NOLINT: implicit, `.padding = 1`
  Padding(std::vector<std::int64_t> sides) : sizes(std::move(sides)) {}  // NOLINT
  // As many as make the result of a size ceil(size / stride) large, and stride * size of a transposed convolution, whose kernel then is not
  // smaller than the stride; the smaller half is in front.
  static Padding same();

  std::vector<std::int64_t> sizes;
  bool keeps_size = false;
};

// Stride and dilation are one number for both axes, or one for each.
struct Windows {
  std::vector<std::int64_t> stride = {1};
  Padding padding;
  std::vector<std::int64_t> dilation = {1};
  std::int64_t groups = 1;            // of convolutions
  bool ceil_mode = false;             // of pools, as all below
  bool count_include_pad = true;      // of averages
  std::int64_t divisor_override = 0;  // of averages; 0: the number of elements
  bool channel_last = false;          // [samples, rows, columns, channels], also of the result; not of weights
};

// Activations [samples, channels, rows, columns], or with channel_last as above; weights as the operations have them: [outputs, inputs per
// group, rows, columns], of the transposed one [inputs, outputs per group, rows, columns]. Errors are kept by the builder, as its own.
Builder::Ref conv2d(Builder& b, Builder::Edge activations, Builder::Edge weights, std::optional<Builder::Edge> bias,
                    const Windows& windows);
Builder::Ref conv2d_transpose(Builder& b, Builder::Edge activations, Builder::Edge weights, std::optional<Builder::Edge> bias,
                              const Windows& windows);
// A window of one number is square.
Builder::Ref max_pool2d(Builder& b, Builder::Edge activations, std::vector<std::int64_t> kernel, const Windows& windows);
Builder::Ref avg_pool2d(Builder& b, Builder::Edge activations, std::vector<std::int64_t> kernel, const Windows& windows);

// Along one axis, negative from the end; weights and bias have its size.
Builder::Ref layernorm(Builder& b, Builder::Edge a, Builder::Edge weights, Builder::Edge bias, std::int64_t dim, double epsilon = 1e-5);

}  // namespace buda::ops

#pragma GCC visibility pop
