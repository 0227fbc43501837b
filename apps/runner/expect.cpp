// The table and the verdict.
#include "apps/runner/expect.hpp"

#include "apps/runner/inputs.hpp"

#include <buda/base/spelling.hpp>
#include <buda/base/text.hpp>
#include <buda/tensor/compare.hpp>

#include <algorithm>
#include <array>
#include <cstdio>

namespace buda::runner {
namespace {

constexpr double kStandardPcc = 0.99;

CompareThresholds thresholds(const Options& o) {
  CompareThresholds t;
  t.min_correlation = o.pcc;
  if (o.rtol || o.atol) t.min_close_fraction = 1.0;
  t.max_abs_error = o.max_error;
  t.max_mean_abs_error = o.mean_error;
  if (!o.pcc && !o.rtol && !o.atol && !o.max_error && !o.mean_error) t.min_correlation = kStandardPcc;
  return t;
}

std::string number(double v) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.6g", v);
  return text.data();
}

std::string correlation_text(const Correlation& c) {
  switch (c.state) {
    case Correlation::State::defined:
      return number(c.value);
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

}  // namespace

Result<void> compare_outputs(const Options& o, const NamedTensors& outputs, std::vector<std::string> names, Host& host) {
  if (names.empty())
    for (const auto& [name, tensor] : outputs) names.push_back(name);
  BUDA_ASSIGN(auto expected, read_named(host, {o.expect}, {"expect", "output", names}));
  CompareOptions options;
  options.rtol = o.rtol.value_or(0);
  options.atol = o.atol.value_or(0);
  Failure failure;
  std::vector<std::vector<std::string>> rows = {{"output", "elements", "correlation", "max error", "mean error", "equal", "verdict"}};
  for (const auto& [name, want] : expected) {
    auto output = outputs.find(name);
    if (output == outputs.end()) {
      Diagnostic d = input_error("RN003", {o.expect},
                                 cat("tensor '", name, "' is expected, but the model has no such output; it has ", join(names, ", ")));
      if (auto near = nearest_word(name, names)) d.hint = cat("did you mean '", *near, "'?");
      failure.add(std::move(d));
      continue;
    }
    if (o.same_type && want.dtype() != output->second.dtype()) {
      Diagnostic d = input_error("RN006", {o.expect},
                                 cat("output '", name, "' is ", output->second.describe(), ", and expected is ", want.describe()));
      d.fault = Fault::mismatch;
      d.node = name;
      failure.add(std::move(d));
      continue;
    }
    auto comparison = compare(want, output->second, options);
    if (!comparison) {
      for (auto& d : comparison.failure().diagnostics()) d.node = name;
      failure.add(std::move(comparison).failure());
      continue;
    }
    auto verdict = judge(*comparison, thresholds(o), name);
    rows.push_back({name, cat(comparison->count), correlation_text(comparison->correlation), number(comparison->max_abs_error),
                    number(comparison->mean_abs_error), cat(comparison->equal), verdict ? "as expected" : "different"});
    if (!verdict) failure.add(std::move(verdict).failure());
  }
  for (const auto& name : names)
    if (expected.count(name) == 0) host.report(note("RN004", {o.expect}, cat("nothing is expected of output '", name, "'")));
  if (rows.size() > 1) print_table(rows, host);
  if (!failure.empty()) return failure;
  return success();
}

}  // namespace buda::runner
