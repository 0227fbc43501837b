// SPDX-License-Identifier: Apache-2.0
// Rows and selections.
#include <buda/autograd/rules/window_rows.hpp>

#include <buda/ops/linear_algebra/selection_matrix.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <utility>

namespace buda::autograd {
namespace {

std::int64_t places_of(const Shape& shape) {
  std::int64_t n = 1;
  for (std::size_t i = 2; i < shape.rank(); ++i) n *= shape[i];
  return n;
}

}  // namespace

Term to_rows(const Term& x) {
  const Shape shape = x.shape();
  return x.reshape(Shape{shape[0], 1, shape[1], places_of(shape)}).transpose({0, 1, 3, 2});
}

Term from_rows(const Term& rows, const Shape& shape) { return rows.transpose({0, 1, 3, 2}).reshape(shape); }

std::int64_t joined_samples(std::int64_t n, std::int64_t selected) {
  constexpr std::int64_t kMaxSelected = std::int64_t{1} << 20;
  return n * selected <= kMaxSelected ? n : 1;
}

Term to_joined_rows(const Term& x, std::int64_t samples) {
  const Shape shape = x.shape();
  return to_rows(x).reshape(Shape{shape[0] / samples, 1, samples * places_of(shape), shape[1]});
}

Term constant(Backward& b, Tensor tensor) { return {b.builder(), b.builder().constant(std::move(tensor))}; }

Term im2col(Backward& b, const Term& joined_rows, const ops::Window& window, std::int64_t samples) {
  if (window.is_identity()) return joined_rows;
  const Tensor taps = ops::tap_selection(window);
  const auto of_one = taps.as<std::int32_t>();
  std::vector<std::int32_t> picks;
  for (std::int64_t t = 0; t < window.taps(); ++t)
    for (std::int64_t sample = 0; sample < samples; ++sample)
      for (std::int64_t o = 0; o < window.out(); ++o) {
        const std::int32_t place = of_one[static_cast<std::size_t>(t * window.out() + o)];
        picks.push_back(place == 0 ? 0 : place + static_cast<std::int32_t>(sample * window.in()));
      }
  return constant(b, Tensor(Shape{1, window.taps(), samples * window.out()}, std::move(picks))).op("sparse_matmul", joined_rows);
}

TapsByPlace taps_by_place(const ops::Window& window) {
  const Tensor selection = ops::tap_selection(window);
  const auto picks = selection.as<std::int32_t>();
  std::vector<std::int64_t> known(static_cast<std::size_t>(window.in()), 0);
  for (const std::int32_t place : picks)
    if (place != 0) ++known[static_cast<std::size_t>(place - 1)];
  TapsByPlace out{std::max<std::int64_t>(*std::max_element(known.begin(), known.end()), 1), window.in(), {}};
  out.taps.resize(static_cast<std::size_t>(out.rows * out.places));
  std::fill(known.begin(), known.end(), 0);
  for (std::int64_t t = 0; t < window.taps(); ++t)
    for (std::int64_t o = 0; o < window.out(); ++o) {
      const std::int32_t place = picks[static_cast<std::size_t>(t * window.out() + o)];
      if (place == 0) continue;
      const std::int64_t row = known[static_cast<std::size_t>(place - 1)]++;
      out.taps[static_cast<std::size_t>(row * out.places + place - 1)] = {static_cast<std::int32_t>(t), static_cast<std::int32_t>(o)};
    }
  return out;
}

}  // namespace buda::autograd
