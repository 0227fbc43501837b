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

// Of a window with more taps, the sum over those before each would take too many terms.
constexpr std::int64_t kMaxTapsAdded = 16;
// Numbers up to this one are exact in all formats of a device with 8 bits of mantissa.
constexpr std::int64_t kDigits = 128;

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
  // A digit of the number of each tap of each window, counted from the last tap on and from 1; 0 in the padding.
  Tensor digits(std::int64_t unit) const {
    std::vector<double> out;
    for (std::int64_t t = 0; t < window.taps(); ++t)
      for (std::int64_t s = 0; s < samples; ++s)
        for (std::int64_t o = 0; o < window.out(); ++o)
          out.push_back(place(t, o) == 0 ? 0 : static_cast<double>((window.taps() - 1 - t) / unit % kDigits + 1));
    return Tensor(Shape{1, 1, count(), 1}, std::move(out));
  }
  // Sums for each place of each sample over the taps that lie there.
  Tensor by_place() const {
    const TapsByPlace of_one = taps_by_place(window);
    std::vector<std::int32_t> out;
    for (std::int64_t r = 0; r < of_one.rows; ++r)
      for (std::int64_t s = 0; s < samples; ++s)
        for (std::int64_t p = 0; p < window.in(); ++p) {
          const TapsByPlace::Tap& tap = of_one.taps[static_cast<std::size_t>(r * window.in() + p)];
          out.push_back(tap.tap < 0 ? 0 : row(tap.tap, s, tap.window));
        }
    return Tensor(Shape{of_one.rows, samples, window.in()}, std::move(out));
  }
};

// 1 where a hit, which is 1, is the first of its window. Those in the padding, which may look like hits, go nowhere.
Term first_of_few(Backward& b, const TapRows& taps, const Term& hit) {
  if (taps.window.taps() == 1) return hit;
  const Term before = constant(b, taps.taps_before()).op("sparse_matmul", hit);
  return (hit - before).op("relu");
}

// The same for any number of taps: of all hits those with the largest first digit of their number, of these those with the largest second.
Term first_of_many(Backward& b, const TapRows& taps, const Term& hit) {
  const Shape rows = hit.shape(), by_tap{rows[0], taps.window.taps(), taps.samples * taps.window.out(), rows[3]};
  std::int64_t unit = 1;
  while (unit * kDigits < taps.window.taps()) unit *= kDigits;
  Term first = hit;
  for (; unit > 0; unit /= kDigits) {
    const Term digit = constant(b, taps.digits(unit).cast(hit.dtype()));
    const Term of_hits = (first * digit).reshape(by_tap);
    const Term largest = of_hits.op("reduce_max", {{"dims", Dims{1}}});
    const Term equal = of_hits.op("equal", largest).op("cast", {{"dtype", std::string(dtype_name(hit.dtype()))}}).reshape(rows);
    first = first * equal;
  }
  return first;
}

void max_pool(Backward& b) {
  const Shape x = b.in(0).shape();
  auto window = ops::pool_window(x, b.attrs(), x.rank() - 2);
  if (!window) return b.refuse(window.failure());
  const bool is_small = window->taps() <= kMaxTapsAdded;
  const TapRows taps{*window, joined_samples(x[0], (is_small ? window->taps() : 1) * window->taps() * window->out())};
  const auto rows = [&](const Term& v) { return to_joined_rows(v, taps.samples); };
  const auto picked = [&](Tensor picks, const Term& of) { return constant(b, std::move(picks)).op("sparse_matmul", of); };
  const Term candidates = picked(taps.elements(), rows(b.in(0)));
  const Term most = picked(taps.windows(), rows(b.result()));
  const Term hit = candidates.op("equal", most).op("cast", {{"dtype", std::string(dtype_name(candidates.dtype()))}});
  const Term first = is_small ? first_of_few(b, taps, hit) : first_of_many(b, taps, hit);
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
  const TapsByPlace taps = taps_by_place(*window);
  std::vector<std::int32_t> picks;
  std::vector<double> shares;
  for (const TapsByPlace::Tap& tap : taps.taps) {
    const double divisor = tap.window < 0 ? 0 : divisors[static_cast<std::size_t>(tap.window)];
    picks.push_back(tap.window + 1);
    shares.push_back(divisor == 0 ? 0 : 1 / divisor);
  }
  const Shape terms{taps.rows, 1, taps.places};
  const Term rows = to_rows(b.g()), selection = constant(b, Tensor(terms, std::move(picks)));
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
