// Gradients of convolutions and pools: selections of rows by constant sparse matrices, forwards and back.
//
//   rows      [n, 1, places, c]      what windows slide over, one row for each place
//   picked    [n, taps, windows, c]  for each tap of each window its row
//
// Weights of a convolution: picked, transposed, times the rows of g, summed over the samples. Patches are repeated, not saved. A maximum's
// gradient goes to the first of equal elements of a window, as PyTorch's does: rectified values tie often.
#include <buda/autograd/rules/rules.hpp>

#include <buda/ops/linear_algebra/selection_matrix.hpp>
#include <buda/ops/spatial/pool.hpp>
#include <buda/ops/spatial/window.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <string>

namespace buda::autograd {
namespace {

using ops::Window;

std::int64_t places_of(const Shape& shape) {
  std::int64_t n = 1;
  for (std::size_t i = 2; i < shape.rank(); ++i) n *= shape[i];
  return n;
}

Term to_rows(const Term& x) {
  const Shape shape = x.shape();
  return x.reshape(Shape{shape[0], 1, shape[1], places_of(shape)}).transpose({0, 1, 3, 2});
}

Term from_rows(const Term& rows, const Shape& shape) { return rows.transpose({0, 1, 3, 2}).reshape(shape); }

Term constant(Backward& b, Tensor tensor) { return {b.builder(), b.builder().constant(std::move(tensor))}; }

Term picked(Backward& b, const Term& rows, const Window& window) {
  if (window.is_identity()) return rows;
  return constant(b, ops::tap_selection(window)).op("sparse_matmul", rows);
}

// For each tap and place the window that has this tap there, from 1: [1, taps, places].
Tensor windows_by_place(const Window& window) {
  const Tensor taps = ops::tap_selection(window);
  std::vector<std::int32_t> out(static_cast<std::size_t>(window.taps() * window.in()), 0);
  const auto picks = taps.as<std::int32_t>();
  for (std::int64_t t = 0; t < window.taps(); ++t)
    for (std::int64_t o = 0; o < window.out(); ++o)
      if (const std::int32_t place = picks[static_cast<std::size_t>(t * window.out() + o)]; place != 0)
        out[static_cast<std::size_t>(t * window.in() + place - 1)] = static_cast<std::int32_t>(o + 1);
  return Tensor(Shape{1, window.taps(), window.in()}, std::move(out));
}

void refuse(Backward& b, Failure failure) { b.refuse(failure.diagnostics().front()); }

// ---- convolutions

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

void weights_gradient(Backward& b, const Window& window) {
  const std::int64_t groups = b.attrs().integer("groups");
  const Shape weights = b.in(1).shape();
  const Term patches = picked(b, to_rows(b.in(0)), window);
  const Term taps = weights_of_taps(patches, to_rows(b.g()), groups);  // [taps, (groups,) i, o]
  const Term ordered = groups == 1 ? taps.transpose({2, 1, 0}) : taps.transpose({1, 3, 2, 0});
  b.give(1, ordered.reshape(weights));
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
  if (!window) return refuse(b, std::move(window).failure());
  if (b.wants(0)) {
    graph::AttrMap attrs = b.node().attrs;
    attrs["output_padding"] = output_padding(*window, rank);
    b.give(0, b.g().op(b.node().op() + "_transpose", b.in(1), std::move(attrs)));
  }
  if (b.wants(1)) weights_gradient(b, *window);
  if (b.wants(2)) {
    Dims dims{0};
    for (std::size_t i = 2; i < x.rank(); ++i) dims.push_back(static_cast<std::int64_t>(i));
    b.give(2, b.g().sum(std::move(dims), false));
  }
}

// ---- pools

bool is_inside(std::int32_t pick) { return pick != 0; }

void max_pool(Backward& b) {
  const Shape x = b.in(0).shape();
  auto window = ops::pool_window(x, b.attrs(), x.rank() - 2);
  if (!window) return refuse(b, std::move(window).failure());
  const auto clamped = ops::clamped_tap_selection(*window);
  if (!clamped) return refuse(b, input_error("AG003", {}, "a window lies in the padding as a whole"));
  const std::int64_t taps = window->taps();
  const Term rows = to_rows(b.in(0));
  const Term candidates = constant(b, *clamped).op("sparse_matmul", rows);
  const Term most = to_rows(b.result());
  // A hit counts taps - t at tap t, so that the largest number is the first hit's. Taps in the padding stand for none of their own.
  std::vector<double> numbers;
  const Tensor selection = ops::tap_selection(*window);
  const auto picks = selection.as<std::int32_t>();
  for (std::size_t i = 0; i < picks.size(); ++i)
    numbers.push_back(is_inside(picks[i]) ? static_cast<double>(taps - static_cast<std::int64_t>(i) / window->out()) : 0.0);
  const Term hit = candidates.op("equal", most), zero = candidates.number(0);
  const Term number = constant(b, Tensor(Shape{1, taps, window->out(), 1}, std::move(numbers)).cast(candidates.dtype()));
  const Term counted = where(hit, number, zero);
  const Term first = counted.op("reduce_max", {{"dims", Dims{1}}});
  const Term is_first = counted.op("equal", first);
  const Term parts = where(is_first, to_rows(b.g()), zero);
  Term sums = constant(b, windows_by_place(*window)).op("sparse_matmul", parts);
  if (taps > 1) sums = sums.sum({1});
  b.give(0, from_rows(sums, x));
}

void avg_pool(Backward& b) {
  const Shape x = b.in(0).shape();
  auto window = ops::pool_window(x, b.attrs(), x.rank() - 2);
  if (!window) return refuse(b, std::move(window).failure());
  const std::vector<double> divisors = ops::pool_divisors(*window, b.attrs());
  // Terms of one sum: for each place the windows that cover it, and one over what each divides by.
  Tensor picks = windows_by_place(*window);
  std::vector<double> shares;
  for (std::int32_t pick : picks.as<std::int32_t>()) {
    const double divisor = pick == 0 ? 0 : divisors[static_cast<std::size_t>(pick - 1)];
    shares.push_back(divisor == 0 ? 0 : 1 / divisor);
  }
  const Shape terms{window->taps(), 1, window->in()};
  auto as_terms = picks.reshaped(terms);
  if (!as_terms) return refuse(b, std::move(as_terms).failure());
  const Term rows = to_rows(b.g()), selection = constant(b, std::move(*as_terms));
  const Term weights = constant(b, Tensor(terms, std::move(shares)).cast(rows.dtype()));
  const Term sums(b.builder(), b.builder().op("sparse_matmul", {selection.value(), rows.value(), weights.value()}));
  b.give(0, from_rows(sums, x));
}

constexpr GradientRule kSpatialRules[] = {{"avg_pool1d", avg_pool}, {"avg_pool2d", avg_pool}, {"avg_pool3d", avg_pool},
                                          {"conv1d", convolution},  {"conv2d", convolution},  {"conv3d", convolution},
                                          {"max_pool1d", max_pool}, {"max_pool2d", max_pool}, {"max_pool3d", max_pool}};

}  // namespace

std::span<const GradientRule> spatial_rules() { return kSpatialRules; }

}  // namespace buda::autograd
