// SPDX-License-Identifier: Apache-2.0
// Outputs against the standard criterion with another floor.
#include <buda/compiler/accuracy/score.hpp>

#include <buda/base/text.hpp>
#include <buda/tensor/check/compare.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace buda::compiler {

double error_share(const Tensor& expected, const Tensor& actual) {
  const Tensor wide = expected.cast(DType::f64), other = actual.cast(DType::f64);
  const auto want = wide.as<double>(), got = other.as<double>();
  if (want.size() != got.size() || want.empty()) return 0;
  double sum = 0, errors = 0;
  std::size_t numbers = 0;
  for (std::size_t i = 0; i < want.size(); ++i) {
    if (std::isfinite(want[i]) != std::isfinite(got[i])) return std::numeric_limits<double>::infinity();
    if (!std::isfinite(want[i])) continue;
    sum += want[i];
    errors += (got[i] - want[i]) * (got[i] - want[i]);
    ++numbers;
  }
  if (numbers == 0 || errors == 0) return 0;
  const double mean = sum / static_cast<double>(numbers);
  double deviation = 0, energy = 0;
  for (const double v : want)
    if (std::isfinite(v)) {
      deviation += (v - mean) * (v - mean);
      energy += v * v;
    }
  // Where nothing varies the values themselves are what is left to compare with.
  const double whole = deviation > 1e-12 * energy ? deviation : energy;
  return whole > 0 ? errors / whole : std::numeric_limits<double>::infinity();
}

double miss(const Tensor& expected, const Tensor& actual, double floor) {
  const CompareCriterion criterion = standard_criterion(expected, actual);
  CompareOptions options = criterion.options;
  options.worst = 0;
  const auto compared = compare(expected, actual, options);
  if (!compared) return std::numeric_limits<double>::infinity();
  double out = 0;
  const bool has_correlation = is_float(expected.dtype()) && compared->correlation.state == Correlation::State::defined;
  if (has_correlation || criterion.thresholds.min_correlation)
    out = std::max(out, error_share(expected, actual) / std::max(2 * (1 - floor), 1e-12));
  if (const auto limit = criterion.thresholds.max_abs_error) {
    const double share = compared->max_abs_error / std::max(*limit, 1e-300);
    out = std::max(out, share * share);
  }
  if (criterion.thresholds.min_close_fraction && compared->max_abs_error > 0) {
    const double share = compared->max_abs_error / std::max(options.atol, 1e-300);
    out = std::max(out, share * share);
  }
  return out;
}

double Score::largest_miss() const {
  double out = 0;
  for (const auto& [name, m] : misses) out = std::max(out, m);
  return out;
}

std::string Score::text() const {
  if (!has_correlation) return reason.empty() ? "as expected" : reason;
  return cat("correlation ", short_correlation(correlation));
}

Result<Score> score_outputs(const NamedTensors& expected, const NamedTensors& actual, double floor) {
  Score out;
  for (const auto& [name, want] : expected) {
    const auto found = actual.find(name);
    if (found == actual.end()) return input_error("OZ021", {}, cat("tensor '", name, "' is expected, and the model has no such output"));
    CompareCriterion criterion = standard_criterion(want, found->second);
    criterion.options.worst = 0;
    auto compared = compare(want, found->second, criterion.options);
    if (!compared) {
      for (Diagnostic& d : compared.failure().diagnostics()) d.message = cat("output '", name, "': ", d.message);
      return std::move(compared).failure();
    }
    const Comparison& comparison = *compared;
    const bool has = is_float(want.dtype()) && comparison.correlation.state == Correlation::State::defined;
    if (has || criterion.thresholds.min_correlation) criterion.thresholds.min_correlation = floor;
    out.misses[name] = miss(want, found->second, floor);
    const bool holds = judge(comparison, criterion.thresholds, name).ok();
    const bool smallest = has && (!out.has_correlation || comparison.correlation.value < out.correlation);
    if (smallest) {
      out.correlation = comparison.correlation.value;
      out.has_correlation = true;
    }
    if (holds ? out.holds && smallest : out.holds) out.output = name;
    if (!holds && out.holds) {
      out.holds = false;
      out.reason = cat("output '", name, "' is not as expected: ", criterion_text(criterion));
    }
  }
  return out;
}

}  // namespace buda::compiler
