// SPDX-License-Identifier: Apache-2.0
// Gradients of pools and of what puts elements back. A maximum's gradient goes to the first of equal elements of a window, as PyTorch's
// does: rectified values tie often.
#include <buda/autograd/rules/rules.hpp>
#include <buda/autograd/rules/window_rows.hpp>

#include <buda/ops/linear_algebra/selection_matrix.hpp>
#include <buda/ops/spatial/pool.hpp>
#include <buda/tensor/tensor.hpp>

#include <utility>

namespace buda::autograd {
namespace {

bool is_inside(std::int32_t pick) { return pick != 0; }

void max_pool(Backward& b) {
  const Shape x = b.in(0).shape();
  auto window = ops::pool_window(x, b.attrs(), x.rank() - 2);
  if (!window) return b.refuse(window.failure());
  const auto clamped = ops::clamped_tap_selection(*window);
  if (!clamped) return b.refuse(input_error("AG003", {}, "a window lies in the padding as a whole"));
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
  if (!window) return b.refuse(window.failure());
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
  if (!as_terms) return b.refuse(as_terms.failure());
  const Term rows = to_rows(b.g()), selection = constant(b, std::move(*as_terms));
  const Term weights = constant(b, Tensor(terms, std::move(shares)).cast(rows.dtype()));
  const Term sums(b.builder(), b.builder().op("sparse_matmul", {selection.value(), rows.value(), weights.value()}));
  b.give(0, from_rows(sums, x));
}

// From the places to which elements went; where several went to one, each has its gradient, as PyTorch's.
void max_unpool(Backward& b) {
  const std::int64_t count = b.g().shape().volume().value_or(0);
  b.give(0, b.g().reshape(Shape{count}).op("gather", b.in(1), {{"dim", std::int64_t{0}}}));
}

constexpr GradientRule kPoolRules[] = {{"avg_pool1d", avg_pool},  {"avg_pool2d", avg_pool}, {"avg_pool3d", avg_pool},
                                       {"max_pool1d", max_pool},  {"max_pool2d", max_pool}, {"max_pool3d", max_pool},
                                       {"max_unpool", max_unpool}};

}  // namespace

std::span<const GradientRule> pool_rules() { return kPoolRules; }

}  // namespace buda::autograd
