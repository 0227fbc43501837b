// SPDX-License-Identifier: Apache-2.0
// Comparison of each op's results, and the fields of the file.
#include <buda/runtime/reference/op_accuracy.hpp>

#include <buda/tensor/check/compare.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace buda::runtime {
namespace {

double magnitude_of(const Tensor& tensor) {
  const Tensor wide = tensor.cast(DType::f64);
  double out = 0;
  for (const double v : wide.as<double>())
    if (std::isfinite(v)) out = std::max(out, std::abs(v));
  return out;
}

// Infinite where a number is on one side only; JSON has no such number.
double finite(double error) { return std::isfinite(error) ? error : std::numeric_limits<double>::max(); }

}  // namespace

Result<AccuracyFile> accuracy_of(const NamedTensors& in_fp32, const NamedTensors& in_formats, std::string model) {
  AccuracyFile out{.model = std::move(model), .netlist_digest = {}, .ops = {}};
  for (const auto& [name, expected] : in_fp32) {
    const auto actual = in_formats.find(name);
    if (actual == in_formats.end()) continue;
    BUDA_ASSIGN(const Comparison c, compare(expected, actual->second, {.worst = 0}));
    OpAccuracy op{.name = name, .elements = static_cast<std::int64_t>(c.count)};
    op.has_correlation = c.correlation.state == Correlation::State::defined;
    if (op.has_correlation) op.correlation = c.correlation.value;
    op.max_error = finite(c.max_abs_error);
    op.mean_error = finite(c.mean_abs_error);
    op.magnitude = magnitude_of(expected);
    out.ops.push_back(std::move(op));
  }
  return out;
}

const schema::Record<OpAccuracy>& describe(const OpAccuracy*) {
  static const auto record =
      schema::Record<OpAccuracy>("results of an op in the formats of the device, next to those in fp32")
          .required("name", &OpAccuracy::name, "name in the netlist")
          .required("elements", &OpAccuracy::elements, "compared")
          .optional("has_correlation", &OpAccuracy::has_correlation, "false: one of the two does not vary, or has infinities")
          .optional("correlation", &OpAccuracy::correlation, "Pearson's")
          .required("max_error", &OpAccuracy::max_error, "largest absolute difference")
          .required("mean_error", &OpAccuracy::mean_error, "mean absolute difference")
          .optional("magnitude", &OpAccuracy::magnitude, "largest absolute value in fp32");
  return record;
}

const schema::Record<AccuracyFile>& describe(const AccuracyFile*) {
  static const auto record =
      schema::Record<AccuracyFile>("accuracy of the ops of a run", {"buda.accuracy", 1})
          .required("model", &AccuracyFile::model, "name of the model's file")
          .optional("netlist_digest", &AccuracyFile::netlist_digest, "SHA-256 of the netlist's text, where it is known")
          .required("ops", &AccuracyFile::ops, "by name");
  return record;
}

}  // namespace buda::runtime
