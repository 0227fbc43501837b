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

// Rows of taps: tap by tap, for each sample and window one.
struct TapRows {
  const ops::Window& window;
  std::int64_t samples;
  Tensor selection = ops::tap_selection(window);

  std::int64_t count() const { return window.taps() * samples * window.out(); }
  std::int32_t row(std::int64_t tap, std::int64_t sample, std::int64_t o) const {
    return static_cast<std::int32_t>((tap * samples + sample) * window.out() + o) + 1;
  }
  // Where a tap lies, from 1; 0 in the padding.
  std::int32_t place(std::int64_t tap, std::int64_t o) const {
    return selection.as<std::int32_t>()[static_cast<std::size_t>(tap * window.out() + o)];
  }

  // A selection of one row for each of these, or of none.
  template <class Row>
  Tensor picks(Row pick) const {
    std::vector<std::int32_t> out;
    for (std::int64_t t = 0; t < window.taps(); ++t)
      for (std::int64_t s = 0; s < samples; ++s)
        for (std::int64_t o = 0; o < window.out(); ++o) out.push_back(pick(t, s, o));
    return Tensor(Shape{1, 1, count()}, std::move(out));
  }
  Tensor elements() const {
    return picks([&](std::int64_t t, std::int64_t s, std::int64_t o) {
      return place(t, o) == 0 ? 0 : place(t, o) + static_cast<std::int32_t>(s * window.in());
    });
  }
  Tensor windows() const {
    return picks([&](std::int64_t, std::int64_t s, std::int64_t o) { return static_cast<std::int32_t>(s * window.out() + o) + 1; });
  }
  // Sums over the taps before each one, but for those in the padding.
  Tensor taps_before() const {
    std::vector<std::int32_t> out;
    for (std::int64_t k = 0; k + 1 < window.taps(); ++k) {
      const Tensor one =
          picks([&](std::int64_t t, std::int64_t s, std::int64_t o) { return k < t && place(k, o) != 0 ? row(k, s, o) : 0; });
      out.insert(out.end(), one.as<std::int32_t>().begin(), one.as<std::int32_t>().end());
    }
    return Tensor(Shape{window.taps() - 1, 1, count()}, std::move(out));
  }
  // Sums for each place of each sample over the taps that lie there.
  Tensor by_place() const {
    const Tensor of_one = windows_by_place(window);
    std::vector<std::int32_t> out;
    for (std::int64_t t = 0; t < window.taps(); ++t)
      for (std::int64_t s = 0; s < samples; ++s)
        for (std::int64_t p = 0; p < window.in(); ++p) {
          const std::int32_t o = of_one.as<std::int32_t>()[static_cast<std::size_t>(t * window.in() + p)];
          out.push_back(o == 0 ? 0 : row(t, s, o - 1));
        }
    return Tensor(Shape{window.taps(), samples, window.in()}, std::move(out));
  }
};

void max_pool(Backward& b) {
  const Shape x = b.in(0).shape();
  auto window = ops::pool_window(x, b.attrs(), x.rank() - 2);
  if (!window) return b.refuse(window.failure());
  const TapRows taps{*window, joined_samples(x[0], window->taps() * window->taps() * window->out())};
  const auto rows = [&](const Term& v) { return to_joined_rows(v, taps.samples); };
  const auto picked = [&](Tensor picks, const Term& of) { return constant(b, std::move(picks)).op("sparse_matmul", of); };
  const Term candidates = picked(taps.elements(), rows(b.in(0)));
  const Term most = picked(taps.windows(), rows(b.result()));
  const Term hit = candidates.op("equal", most).op("cast", {{"dtype", std::string(dtype_name(candidates.dtype()))}});
  // A hit is the first unless one of the taps before it is one, too. Those in the padding, which may look like hits, go nowhere.
  Term first = hit;
  if (window->taps() > 1) {
    const Term before = picked(taps.taps_before(), hit);
    first = (hit - before).op("relu");
  }
  const Term parts = first * picked(taps.windows(), rows(b.g()));
  const Term sums = picked(taps.by_place(), parts);
  b.give(0, from_rows(sums.reshape(Shape{x[0], 1, window->in(), x[1]}), x));
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
