// SPDX-License-Identifier: Apache-2.0
// Comparison of tensors.
//
// Elements are read in blocks as doubles, which hold every type exactly but 64-bit integers; where both sides are integers and one has 64
// bits, differences are taken in 128 bits. Correlation takes three passes over the pairs that are finite: limits, means, moments. Values
// are scaled by a power of two below 1 in magnitude before they are multiplied, so that neither 1e200 nor 1e-200 leaves the range of a
// double. Sums run in the order of elements, so that the same tensors always give the same numbers.
#include <buda/tensor/check/compare.hpp>

#include <buda/base/text.hpp>
#include <buda/tensor/formats/visit.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <type_traits>

namespace buda {
namespace {

constexpr std::size_t kBlock = 4096;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
__extension__ using Wide = __int128;

template <class To, class T>
To value_as(T v) {
  if constexpr (std::is_same_v<T, Boolean>) {
    return static_cast<To>(v ? 1 : 0);
  } else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    return static_cast<To>(to_float(v));
  } else {
    return static_cast<To>(v);
  }
}

template <class To>
void load(const Tensor& tensor, std::size_t begin, std::size_t count, To* out) {
  visit_dtype(tensor.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    // Integers in 128 bits are asked for only where there are integers.
    if constexpr (std::is_same_v<To, double> || std::is_integral_v<T> || std::is_same_v<T, Boolean>) {
      auto elements = tensor.as<T>().subspan(begin, count);
      std::transform(elements.begin(), elements.end(), out, [](T v) { return value_as<To>(v); });
    }
  });
}

std::string element_text(const Tensor& tensor, std::size_t index) {
  return visit_dtype(tensor.dtype(), [&](auto tag) -> std::string {
    using T = typename decltype(tag)::type;
    T v = tensor.as<T>()[index];
    if constexpr (std::is_same_v<T, Boolean>) {
      return v ? "true" : "false";
    } else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
      return to_text(to_float(v));
    } else if constexpr (std::is_integral_v<T>) {
      return cat(v);
    } else {
      return to_text(v);
    }
  });
}

// Numbers of a floating type, in their order: neighbours differ by 1, both zeros are 0.
template <class Bits>
std::int64_t ordinal(Bits bits) {
  constexpr Bits kSign = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));
  auto magnitude = static_cast<std::int64_t>(bits & static_cast<Bits>(~kSign));
  return (bits & kSign) != 0 ? -magnitude : magnitude;
}

std::int64_t ordinal_of(DType type, double v) {
  switch (type) {
    case DType::f16:
      return ordinal(half_from_double(v).bits);
    case DType::bf16:
      return ordinal(bfloat16_from_double(v).bits);
    case DType::f32:
      return ordinal(std::bit_cast<std::uint32_t>(static_cast<float>(v)));
    default:
      return ordinal(std::bit_cast<std::uint64_t>(v));
  }
}

double ulp_distance(DType type, double a, double b) {
  std::int64_t x = ordinal_of(type, a), y = ordinal_of(type, b);
  return static_cast<double>(static_cast<std::uint64_t>(std::max(x, y)) - static_cast<std::uint64_t>(std::min(x, y)));
}

// Both tensors, block by block, as doubles and with the exact difference of each pair.
class Pairs {
 public:
  Pairs(const Tensor& expected, const Tensor& actual) : expected_(expected), actual_(actual) {
    auto integers = [](const Tensor& t) { return !is_float(t.dtype()); };
    auto has64 = [](const Tensor& t) { return dtype_size(t.dtype()) == 8; };
    wide_ = integers(expected) && integers(actual) && (has64(expected) || has64(actual));
  }

  // f(index, expected, actual, |difference|) for each pair.
  template <class F>
  void for_each(F&& f) const {
    std::array<double, kBlock> e, a, error;
    for (std::size_t begin = 0; begin < expected_.size(); begin += kBlock) {
      std::size_t count = std::min(kBlock, expected_.size() - begin);
      load(expected_, begin, count, e.data());
      load(actual_, begin, count, a.data());
      if (wide_)
        exact_errors(begin, count, error.data());
      else
        for (std::size_t i = 0; i < count; ++i) error[i] = std::fabs(a[i] - e[i]);
      for (std::size_t i = 0; i < count; ++i) f(begin + i, e[i], a[i], error[i]);
    }
  }

 private:
  void exact_errors(std::size_t begin, std::size_t count, double* out) const {
    std::array<Wide, kBlock> e, a;
    load(expected_, begin, count, e.data());
    load(actual_, begin, count, a.data());
    for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<double>(e[i] > a[i] ? e[i] - a[i] : a[i] - e[i]);
  }

  const Tensor& expected_;
  const Tensor& actual_;
  bool wide_ = false;
};

// The smallest and the largest of the values seen.
struct Limits {
  double low = kInfinity, high = -kInfinity;
  void add(double v) {
    low = std::min(low, v);
    high = std::max(high, v);
  }
  bool constant() const { return low == high; }
  // The power of two that brings every value below 1 in magnitude, or nearly so at the ends of a double's range.
  double scale() const { return std::ldexp(1.0, std::clamp(-std::ilogb(std::max(std::fabs(low), std::fabs(high))) - 1, -1022, 1023)); }
};

Correlation correlate(const Pairs& pairs, std::size_t not_finite) {
  using State = Correlation::State;
  if (not_finite != 0) return {State::not_finite, 0};
  auto for_each_finite = [&](auto&& f) {
    pairs.for_each([&](std::size_t, double e, double a, double) {
      if (std::isfinite(e) && std::isfinite(a)) f(e, a);
    });
  };
  Limits expected, actual;
  double count = 0;
  for_each_finite([&](double e, double a) {
    expected.add(e);
    actual.add(a);
    ++count;
  });
  if (count == 0) return {State::empty, 0};
  if (expected.constant()) return {actual.constant() ? State::both_constant : State::expected_constant, 0};
  if (actual.constant()) return {State::actual_constant, 0};

  const double e_scale = expected.scale(), a_scale = actual.scale();
  double e_mean = 0, a_mean = 0;
  for_each_finite([&](double e, double a) {
    e_mean += e * e_scale;
    a_mean += a * a_scale;
  });
  e_mean /= count;
  a_mean /= count;
  double ee = 0, aa = 0, ea = 0;
  for_each_finite([&](double e, double a) {
    double x = e * e_scale - e_mean, y = a * a_scale - a_mean;
    ee += x * x;
    aa += y * y;
    ea += x * y;
  });
  // One root of the product, which is exact where the sides are the same but for a power of two.
  double value = ea / std::sqrt(ee * aa);
  return {State::defined, std::clamp(value, -1.0, 1.0)};
}

std::vector<std::int64_t> place_of(std::size_t index, const Shape& shape) {
  std::vector<std::int64_t> place(shape.rank());
  auto rest = static_cast<std::int64_t>(index);
  for (std::size_t i = shape.rank(); i-- > 0;) {
    place[i] = rest % shape[i];
    rest /= shape[i];
  }
  return place;
}

// The largest element along the last axis, row by row: is it where it is expected?
void compare_largest(const Pairs& pairs, const Shape& shape, double margin, Comparison& out) {
  const std::int64_t length = shape.rank() == 0 ? 0 : shape[shape.rank() - 1];
  if (length < 2) return;
  const auto row = static_cast<std::size_t>(length);
  double largest = 0, second = 0, actual_largest = 0;
  std::size_t at = 0, actual_at = 0;
  bool comparable = true;
  pairs.for_each([&](std::size_t index, double e, double a, double) {
    const std::size_t column = index % row;
    if (column == 0) {
      largest = second = -kInfinity;
      at = actual_at = index;
      actual_largest = a;
      comparable = true;
    }
    comparable = comparable && !std::isnan(e);  // NaN is neither larger nor smaller than another
    if (column == 0 || e > largest) {
      second = largest;
      largest = e;
      at = index;
    } else {
      second = std::max(second, e);
    }
    if (a > actual_largest) {
      actual_largest = a;
      actual_at = index;
    }
    if (column + 1 != row || !comparable || !(largest - second > margin)) return;
    ++out.clear_largest;
    if (at == actual_at) return;
    if (out.moved_largest++ == 0) out.first_moved = MovedLargest{place_of(at, shape), place_of(actual_at, shape)};
  });
}

// Of an error that is shown, not judged by: few digits read better.
std::string short_text(double v) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.6g", v);
  return text.data();
}

std::string correlation_text(const Correlation& c) {
  using State = Correlation::State;
  switch (c.state) {
    case State::defined:
      return to_text(c.value);
    case State::empty:
      return "not defined: there are no finite elements";
    case State::expected_constant:
      return "not defined: all expected elements are the same";
    case State::actual_constant:
      return "not defined: all actual elements are the same";
    case State::both_constant:
      return "not defined: all elements are the same on each side";
    case State::not_finite:
      return "not defined: there are infinities or NaN that differ";
  }
  return "";
}

ElementDifference difference_at(const Tensor& expected, const Tensor& actual, std::size_t index, double error) {
  ElementDifference d;
  d.place = place_of(index, expected.shape());
  load(expected, index, 1, &d.expected);
  load(actual, index, 1, &d.actual);
  d.error = error;
  d.expected_text = element_text(expected, index);
  d.actual_text = element_text(actual, index);
  return d;
}

std::string difference_text(const ElementDifference& d) {
  return cat("at ", list_text(d.place), ": expected ", d.expected_text, ", actual ", d.actual_text, ", error ", d.error);
}

}  // namespace

Result<Comparison> compare(const Tensor& expected, const Tensor& actual, const CompareOptions& options) {
  if (expected.shape() != actual.shape()) {
    Diagnostic d =
        input_error("TN040", {}, cat("shape ", expected.shape().text(), " is expected, the actual one is ", actual.shape().text()));
    d.fault = Fault::mismatch;
    return d;
  }
  Comparison c;
  c.options = options;
  c.count = expected.size();
  Pairs pairs(expected, actual);
  bool float_type = is_float(expected.dtype());
  double total = 0;
  std::vector<std::pair<double, std::size_t>> worst;  // error and index, largest error first
  std::optional<std::pair<double, std::size_t>> first;
  pairs.for_each([&](std::size_t index, double e, double a, double error) {
    bool both_nan = std::isnan(e) && std::isnan(a);
    bool finite = std::isfinite(e) && std::isfinite(a);
    bool equal = finite ? error == 0 : e == a || (both_nan && options.equal_nan);
    if (equal) {
      ++c.equal;
      ++c.close;
      return;
    }
    if (!finite) {
      ++c.not_finite;
      error = c.max_ulp_error = kInfinity;
    } else {
      if (error <= options.atol + options.rtol * std::fabs(e)) ++c.close;
      c.max_ulp_error = std::max(c.max_ulp_error, float_type ? ulp_distance(expected.dtype(), e, a) : error);
    }
    if (!first) first.emplace(error, index);
    total += error;
    c.max_abs_error = std::max(c.max_abs_error, error);
    if (options.worst == 0 || (worst.size() == options.worst && error <= worst.back().first)) return;
    if (worst.size() == options.worst) worst.pop_back();
    auto at = std::upper_bound(worst.begin(), worst.end(), error, [](double x, const auto& entry) { return x > entry.first; });
    worst.insert(at, {error, index});
  });
  if (c.count != 0) c.mean_abs_error = total / static_cast<double>(c.count);
  c.correlation = correlate(pairs, c.not_finite);
  if (options.largest_margin) compare_largest(pairs, expected.shape(), *options.largest_margin, c);
  if (first) c.first = difference_at(expected, actual, first->second, first->first);
  for (const auto& [error, index] : worst) c.worst.push_back(difference_at(expected, actual, index, error));
  return c;
}

std::string short_correlation(double correlation) {
  constexpr int kDigits = 6, kMaxDigits = 17;
  std::array<char, 32> text{};
  for (int digits = kDigits; digits <= kMaxDigits; ++digits) {
    std::snprintf(text.data(), text.size(), "%.*g", digits, correlation);
    if (correlation == 1 || std::string_view(text.data()) != "1") break;
  }
  return text.data();
}

std::string criterion_text(const CompareCriterion& criterion) {
  const auto& [options, t] = criterion;
  std::vector<std::string> parts;
  if (t.all_equal) parts.push_back("equal");
  if (t.min_correlation) parts.push_back(cat("correlation >= ", *t.min_correlation));
  if (t.min_close_fraction) {
    std::string bound = options.rtol == 0 ? to_text(options.atol) : cat(options.rtol, " |expected|");
    if (options.rtol != 0 && options.atol != 0) bound = cat(options.atol, " + ", bound);
    parts.push_back(cat("|error| <= ", bound, *t.min_close_fraction < 1 ? cat(" for ", *t.min_close_fraction, " of all") : ""));
  }
  if (t.max_abs_error) parts.push_back(cat("max error <= ", short_text(*t.max_abs_error)));
  if (t.max_mean_abs_error) parts.push_back(cat("mean error <= ", *t.max_mean_abs_error));
  if (t.max_ulp_error) parts.push_back(cat("error <= ", *t.max_ulp_error, " units in the last place"));
  if (t.same_largest) parts.push_back("same largest along the last axis");
  return join(parts, ", ");
}

CompareCriterion standard_criterion(const Tensor& expected, const Tensor& actual) {
  constexpr std::size_t kSmallTensorElements = 64;
  constexpr double kMinCorrelation = 0.99, kTolerance = 0.02, kMinLimit = 1e-3, kMinAtol = 1e-6;
  CompareCriterion out;
  if (!is_float(actual.dtype())) {
    out.thresholds.all_equal = true;
    return out;
  }
  const Shape& shape = expected.shape();
  const bool same_shape = shape == actual.shape();
  Limits limits;
  double largest = 0;
  if (same_shape)
    Pairs(expected, actual).for_each([&](std::size_t, double e, double, double) {
      if (!std::isfinite(e)) return;
      limits.add(e);
      largest = std::max(largest, std::fabs(e));
    });
  if (same_shape && expected.size() < kSmallTensorElements) {
    const double limit = kTolerance * largest + kMinLimit;
    out.thresholds.max_abs_error = limit;
    if (shape.rank() > 0 && shape[shape.rank() - 1] > 1) {
      out.thresholds.same_largest = true;
      out.options.largest_margin = limit;
    }
    return out;
  }
  if (!same_shape || limits.low < limits.high) {
    out.thresholds.min_correlation = kMinCorrelation;
    return out;
  }
  out.options.rtol = kTolerance;
  // Three digits are enough, and read better.
  double atol = std::max(kMinAtol, kTolerance * largest), scale = std::pow(10, 2 - std::floor(std::log10(atol)));
  out.options.atol = std::ceil(atol * scale) / scale;
  out.thresholds.min_close_fraction = 1.0;
  return out;
}

Result<void> judge(const Comparison& c, const CompareThresholds& thresholds, const std::string& name) {
  Failure failure;
  auto fail = [&](const char* code, const char* measure, std::string message, double value, double threshold) {
    Diagnostic d = input_error(code, {}, name.empty() ? std::move(message) : cat('\'', name, "': ", message));
    d.fault = Fault::mismatch;
    d.node = name;
    d.data = {{"measure", measure}, {"value", to_text(value)}, {"threshold", to_text(threshold)}};
    if (failure.empty())
      for (const ElementDifference& w : c.worst) d.notes.push_back({{}, difference_text(w)});
    failure.add(std::move(d));
  };
  // Written so that NaN does not pass.
  bool identical = c.equal == c.count;
  if (thresholds.all_equal && !identical) {
    const auto different = static_cast<double>(c.count - c.equal);
    fail("TN046", "different",
         cat(c.count - c.equal, " of ", c.count, c.count == 1 ? " element is" : " elements are", " not equal; the first is ",
             c.first ? difference_text(*c.first) : ""),
         different, 0);
  }
  if (const auto& t = thresholds.min_correlation; t && !identical) {
    if (c.correlation.state != Correlation::State::defined) {
      fail("TN041", "correlation", cat("correlation is ", correlation_text(c.correlation)), std::nan(""), *t);
      Diagnostic& d = failure.diagnostics().back();
      if (c.correlation.state != Correlation::State::not_finite)
        d.hint = "for constant tensors, compare with a tolerance or a maximum error instead";
      if (c.correlation.state == Correlation::State::expected_constant || c.correlation.state == Correlation::State::both_constant)
        d.data.emplace_back("constant", "expected");
    } else if (!(c.correlation.value >= *t)) {
      fail("TN041", "correlation", cat("correlation is ", c.correlation.value, ", below ", *t), c.correlation.value, *t);
    }
  }
  if (const auto& t = thresholds.min_close_fraction; t && !(c.close_fraction() >= *t))
    fail("TN042", "close",
         cat(c.count - c.close, " of ", c.count, " elements are not close (rtol ", c.options.rtol, ", atol ", c.options.atol,
             "); a fraction of ", *t, " must be"),
         c.close_fraction(), *t);
  auto at_most = [&](const char* code, const char* measure, const char* words, double value, const std::optional<double>& t) {
    if (t && !(value <= *t)) fail(code, measure, cat(words, " is ", value, ", above ", *t), value, *t);
  };
  at_most("TN043", "max_abs_error", "the largest absolute error", c.max_abs_error, thresholds.max_abs_error);
  at_most("TN044", "mean_abs_error", "the mean absolute error", c.mean_abs_error, thresholds.max_mean_abs_error);
  at_most("TN045", "max_ulp_error", "the largest error in units of the last place", c.max_ulp_error, thresholds.max_ulp_error);
  if (thresholds.same_largest && c.moved_largest != 0) {
    fail("TN047", "moved_largest",
         cat("the largest element along the last axis is another one in ", c.moved_largest, " of ", c.clear_largest,
             c.clear_largest == 1 ? " row" : " rows", " where it stands out"),
         static_cast<double>(c.moved_largest), 0);
    if (c.first_moved)
      failure.diagnostics().back().notes.push_back({{},
                                                    cat("the largest expected element is at ", list_text(c.first_moved->place),
                                                        ", the largest actual one at ", list_text(c.first_moved->actual_place))});
  }
  if (!failure.empty()) return failure;
  return success();
}

std::string comparison_text(const Comparison& c) {
  std::string out = cat("correlation     ", correlation_text(c.correlation), "\n", "close           ", c.close, " of ", c.count, " (rtol ",
                        c.options.rtol, ", atol ", c.options.atol, "; ", c.equal, " are equal)\n", "max abs error   ", c.max_abs_error,
                        "\n", "mean abs error  ", c.mean_abs_error, "\n", "max ulp error   ", c.max_ulp_error, '\n');
  if (c.not_finite != 0) out += cat("not finite      ", c.not_finite, " pairs differ with an infinity or NaN\n");
  for (const ElementDifference& d : c.worst) out += cat("  ", difference_text(d), '\n');
  return out;
}

}  // namespace buda
