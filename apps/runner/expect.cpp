// SPDX-License-Identifier: Apache-2.0
// The table and the verdict.
#include "apps/runner/expect.hpp"

#include "apps/runner/inputs.hpp"

#include <buda/base/spelling.hpp>
#include <buda/base/text.hpp>
#include <buda/tensor/check/compare.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace buda::runner {
namespace {

// A correlation says nothing about integers: of them only a limit of errors allows differences.
CompareCriterion criterion(const Options& o, const Tensor& expected, const Tensor& actual) {
  const bool errors = o.rtol || o.atol || o.max_error || o.mean_error;
  if (!errors && (!o.pcc || !is_float(actual.dtype()))) return standard_criterion(expected, actual);
  CompareCriterion c;
  c.options.rtol = o.rtol.value_or(0);
  c.options.atol = o.atol.value_or(0);
  c.thresholds.min_correlation = o.pcc;
  if (o.rtol || o.atol) c.thresholds.min_close_fraction = 1.0;
  c.thresholds.max_abs_error = o.max_error;
  c.thresholds.max_mean_abs_error = o.mean_error;
  return c;
}

// The limit under which integers or booleans that differ would pass.
std::string hint_for_unequal(const Comparison& comparison, DType type) {
  return type == DType::boolean ? cat("to allow as many differences: --mean-error ", comparison.mean_abs_error)
                                : cat("to allow such differences: --max-error ", comparison.max_abs_error);
}

std::string number(double v) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.6g", v);
  return text.data();
}

std::string correlation_text(const Correlation& c) {
  switch (c.state) {
    case Correlation::State::defined:
      return short_correlation(c.value);
    case Correlation::State::empty:
      return "(empty)";
    case Correlation::State::expected_constant:
      return "(expected is constant)";
    case Correlation::State::actual_constant:
      return "(output is constant)";
    case Correlation::State::both_constant:
      return "(constant)";
    case Correlation::State::not_finite:
      return "(not finite)";
  }
  return "";
}

void print_table(const std::vector<std::vector<std::string>>& rows, Host& host) {
  std::vector<std::size_t> widths(rows.front().size(), 0);
  for (const auto& row : rows)
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c)
      line += c + 1 == row.size() ? row[c] : row[c] + std::string(widths[c] - row[c].size() + 2, ' ');
    host.log(0, line);
  }
}

// The smallest and the largest element, and the mean.
std::vector<std::string> range_of(const Tensor& tensor) {
  Tensor wide = tensor.cast(DType::f64);
  auto elements = wide.as<double>();
  if (elements.empty()) return {"-", "-", "-"};
  double least = elements[0], most = elements[0], sum = 0;
  for (double v : elements) {
    // NaN, once seen, stays.
    least = v < least || std::isnan(v) ? v : least;
    most = v > most || std::isnan(v) ? v : most;
    sum += v;
  }
  return {number(least), number(most), number(sum / static_cast<double>(elements.size()))};
}

}  // namespace

void print_outputs(const NamedTensors& outputs, std::vector<std::string> names, Host& host) {
  if (names.empty())
    for (const auto& [name, tensor] : outputs) names.push_back(name);
  std::vector<std::vector<std::string>> rows = {{"output", "type", "shape", "min", "max", "mean"}};
  for (const auto& name : names) {
    auto output = outputs.find(name);
    if (output == outputs.end()) continue;
    auto range = range_of(output->second);
    rows.push_back({name, std::string(dtype_name(output->second.dtype())), output->second.shape().text(), range[0], range[1], range[2]});
  }
  print_table(rows, host);
}

Result<NamedTensors> read_expected(const Options& o, const std::vector<std::string>& names, Host& host) {
  BUDA_ASSIGN(auto expected, read_named(host, {o.expect}, {"expect", "output", names}));
  if (expected.empty()) return input_error("RN011", {o.expect}, "holds no tensor: nothing would be compared");
  Failure failure;
  for (const auto& [name, want] : expected) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    Diagnostic d =
        input_error("RN003", {o.expect}, cat("tensor '", name, "' is not an output of the model; its outputs are ", join(names, ", ")));
    if (auto near = nearest_word(name, names)) d.hint = cat("did you mean '", *near, "'?");
    failure.add(std::move(d));
  }
  if (!failure.empty()) return failure;
  return expected;
}

Result<void> compare_outputs(const Options& o, const NamedTensors& expected, const NamedTensors& outputs, std::vector<std::string> names,
                             Host& host) {
  if (names.empty())
    for (const auto& [name, tensor] : outputs) names.push_back(name);
  Failure failure;
  std::vector<std::vector<std::string>> rows = {
      {"output", "elements", "correlation", "max error", "mean error", "equal", "verdict", "criterion"}};
  for (const auto& [name, want] : expected) {
    const auto output = outputs.find(name);
    if (o.same_type && want.dtype() != output->second.dtype()) {
      Diagnostic d = input_error("RN006", {o.expect},
                                 cat("output '", name, "' is ", output->second.describe(), ", and expected is ", want.describe()));
      d.fault = Fault::mismatch;
      d.node = name;
      failure.add(std::move(d));
      continue;
    }
    const CompareCriterion asked = criterion(o, want, output->second);
    auto comparison = compare(want, output->second, asked.options);
    if (!comparison) {
      for (auto& d : comparison.failure().diagnostics()) {
        d.message = cat("output '", name, "': ", d.message);
        d.node = name;
      }
      failure.add(std::move(comparison).failure());
      continue;
    }
    auto verdict = judge(*comparison, asked.thresholds, name);
    if (!verdict && asked.thresholds.all_equal && std::isfinite(comparison->max_abs_error))
      verdict.failure().diagnostics().front().hint = hint_for_unequal(*comparison, output->second.dtype());
    rows.push_back({name, cat(comparison->count), correlation_text(comparison->correlation), number(comparison->max_abs_error),
                    number(comparison->mean_abs_error), cat(comparison->equal), verdict ? "as expected" : "different",
                    criterion_text(asked)});
    if (!verdict) failure.add(std::move(verdict).failure());
  }
  for (const auto& name : names)
    if (expected.count(name) == 0) host.report(note("RN004", {o.expect}, cat("nothing is compared with output '", name, "'")));
  if (rows.size() > 1) print_table(rows, host);
  if (!failure.empty()) return failure;
  return success();
}

}  // namespace buda::runner
