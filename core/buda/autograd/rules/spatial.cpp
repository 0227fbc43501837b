// SPDX-License-Identifier: Apache-2.0
// Gradients of convolutions.
//
// Weights: the patches of x (im2col, window_rows.hpp), transposed, times the rows of g, summed over the samples. Patches are repeated, not
// saved.
#include <buda/autograd/rules/rules.hpp>
#include <buda/autograd/rules/window_rows.hpp>

#include <string>
#include <utility>

namespace buda::autograd {
namespace {

using ops::Window;

// [taps, i, o] from picked [n, taps, windows, i] and g rows [n, 1, windows, o], both with groups of channels apart.
Term weights_of_taps(const Term& x, const Term& g, std::int64_t groups) {
  if (groups == 1) return x.transposed_matrices().matmul(g).sum({0}, false);
  const auto grouped = [&](const Term& v) {
    const Shape s = v.shape();
    return v.reshape(Shape{s[0], s[1], s[2], groups, s[3] / groups}).transpose({0, 1, 3, 2, 4});
  };
  const Term by_group = grouped(x).transposed_matrices();
  return by_group.matmul(grouped(g)).sum({0}, false);
}

// Of the elements that windows cover, and what each window has: weights [channels of the windows, channels of elements, taps].
void weights_gradient(Backward& b, const Window& window, const Term& elements, const Term& windows) {
  const std::int64_t groups = b.attrs().integer("groups");
  const Term patches = im2col(b, to_rows(elements), window);
  const Term taps = weights_of_taps(patches, to_rows(windows), groups);  // [taps, (groups,) i, o]
  const Term ordered = groups == 1 ? taps.transpose({2, 1, 0}) : taps.transpose({1, 3, 2, 0});
  b.give(1, ordered.reshape(b.in(1).shape()));
}

void bias_gradient(Backward& b) {
  Dims dims{0};
  for (std::size_t i = 2; i < b.g().shape().rank(); ++i) dims.push_back(static_cast<std::int64_t>(i));
  b.give(2, b.g().sum(std::move(dims), false));
}

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
