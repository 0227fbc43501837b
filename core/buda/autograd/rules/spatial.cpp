// SPDX-License-Identifier: Apache-2.0
// Gradients of convolutions.
#include <buda/autograd/rules/rules.hpp>
#include <buda/autograd/rules/weights_gradient.hpp>
#include <buda/autograd/rules/window_rows.hpp>

#include <string>
#include <utility>

namespace buda::autograd {
namespace {

using ops::Window;

void bias_gradient(Backward& b) { b.give(2, to_joined_rows(b.g(), b.g().shape()[0]).sum({0, 1, 2}, false)); }

// What a transposed convolution has to add behind the last window so that its result is as large as x.
Dims output_padding(const Window& window, std::size_t rank) {
  Dims out;
  for (std::size_t i = ops::kMaxSpatialAxes - rank; i < ops::kMaxSpatialAxes; ++i) {
    const ops::WindowAxis& a = window.axes[i];
    out.push_back(a.in - ((a.out - 1) * a.stride + (a.kernel - 1) * a.dilation + 1 - a.before - a.after));
  }
  return out;
}

void convolution(Backward& b) {
  const Shape x = b.in(0).shape(), weights = b.in(1).shape();
  const std::size_t rank = x.rank() - 2;
  auto window = ops::sliding_window(b.attrs(), x, {weights.begin() + 2, weights.end()});
  if (!window) return b.refuse(window.failure());
  if (b.wants(0)) {
    graph::AttrMap attrs = b.node().attrs;
    attrs["output_padding"] = output_padding(*window, rank);
    b.give(0, b.g().op(b.node().op() + "_transpose", b.in(1), std::move(attrs)));
  }
  if (b.wants(1)) weights_gradient(b, *window, b.in(0), b.g());
  if (b.wants(2)) bias_gradient(b);
}

// Elements of the result are what windows cover, those of x are windows: the same weights bring g back as a convolution.
void transposed_convolution(Backward& b) {
  const Shape x = b.in(0).shape(), weights = b.in(1).shape();
  auto window = ops::transposed_window(b.attrs(), x, {weights.begin() + 2, weights.end()});
  if (!window) return b.refuse(window.failure());
  if (b.wants(0)) {
    graph::AttrMap attrs = b.node().attrs;
    attrs.erase("output_padding");
    std::string op = b.node().op();
    Term gradient = b.g().op(op.substr(0, op.find('_')), b.in(1), std::move(attrs));
    // Padding behind the last window may be as large as another one.
    for (std::size_t i = 2; i < x.rank() && gradient.valid(); ++i)
      if (gradient.shape()[i] != x[i]) gradient = {b.builder(), b.builder().slice(gradient.value(), static_cast<std::int64_t>(i), 0, x[i])};
    b.give(0, gradient);
  }
  if (b.wants(1)) weights_gradient(b, *window, b.g(), b.in(0));
  if (b.wants(2)) bias_gradient(b);
}

constexpr GradientRule kSpatialRules[] = {{"conv1d", convolution}, {"conv1d_transpose", transposed_convolution},
                                          {"conv2d", convolution}, {"conv2d_transpose", transposed_convolution},
                                          {"conv3d", convolution}, {"conv3d_transpose", transposed_convolution}};

}  // namespace

std::span<const GradientRule> spatial_rules() { return kSpatialRules; }

}  // namespace buda::autograd
