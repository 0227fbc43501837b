// SPDX-License-Identifier: Apache-2.0
// Gradients of convolutions.
//
// Weights: the rows of g, transposed, times the patches of x (im2col, window_rows.hpp), with those of all samples below one another, so
// that one product sums over all. Patches are repeated, not saved.
#include <buda/autograd/rules/rules.hpp>
#include <buda/autograd/rules/window_rows.hpp>

#include <string>
#include <utility>

namespace buda::autograd {
namespace {

using ops::Window;

// Of the elements that windows cover, and what each window has: weights [channels of the windows, channels of elements, taps]. The smaller
// of the two factors is the one that is transposed.
void weights_gradient(Backward& b, const Window& window, const Term& elements, const Term& windows) {
  const std::int64_t groups = b.attrs().integer("groups"), n = elements.shape()[0];
  const std::int64_t samples = joined_samples(n, window.taps() * window.out());
  const Term patches = im2col(b, to_joined_rows(elements, samples), window, samples);  // [1, taps, rows, i]
  const Term rows = to_joined_rows(windows, samples);                                  // [1, 1, rows, o]
  const auto whole = [](const Term& taps) { return taps.shape()[0] == 1 ? taps : taps.sum({0}); };
  if (groups == 1) {
    const Term taps = whole(rows.transposed_matrices().matmul(patches));  // [1, taps, o, i]
    b.give(1, taps.transpose({0, 2, 3, 1}).reshape(b.in(1).shape()));
    return;
  }
  // [1, taps or 1, groups, rows, channels of a group]
  const auto grouped = [&](const Term& v) {
    const Shape s = v.shape();
    return v.reshape(Shape{s[0], s[1], s[2], groups, s[3] / groups}).transpose({0, 1, 3, 2, 4});
  };
  const Term left = grouped(rows).transposed_matrices();
  const Term taps = whole(left.matmul(grouped(patches)));  // [1, taps, groups, o, i]
  b.give(1, taps.transpose({0, 2, 3, 4, 1}).reshape(b.in(1).shape()));
}

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
