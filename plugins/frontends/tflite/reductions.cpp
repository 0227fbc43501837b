// SPDX-License-Identifier: Apache-2.0
// Reductions along axes.
#include "node_import.hpp"
#include "quantized.hpp"

#include <buda/base/text.hpp>
#include <buda/frontend/reductions.hpp>

#include <algorithm>
#include <cmath>

namespace buda::tflite_frontend {
namespace {

namespace format = tflite_format;
using Ref = NodeImport::Ref;
using Dims = NodeImport::Dims;

Result<Dims> reduced_axes(NodeImport& n) {
  BUDA_ASSIGN(Shape x, n.shape(0));
  BUDA_ASSIGN(Dims given, n.known_integers(1, "axes"));
  return frontend::reduced_axes(n, given, x.rank());
}

bool keeps_axes(const NodeImport& n) { return n.options<format::ReducerOptions>().keep_dims(); }

Result<void> reduce(NodeImport& n, Ref value, bool stored) {
  BUDA_ASSIGN(Dims axes, reduced_axes(n));
  Ref y = frontend::reduced(n, n.layouts(), value, std::string(n.importer().op), std::move(axes), keeps_axes(n));
  if (stored)
    n.output(y);
  else
    n.output_number(y);
  return success();
}

// The sum of integers, scaled. A mean's factor is divided by the number of elements as the reference does: in integers, with as many more
// bits as the multiplier leaves.
Result<void> reduce_integers(NodeImport& n, bool mean) {
  BUDA_ASSIGN(Shape x, n.shape(0));
  BUDA_ASSIGN(Dims axes, reduced_axes(n));
  std::int64_t count = 1;
  for (auto axis : axes) count *= x[static_cast<std::size_t>(axis)];
  const auto &from = n.input_info(0), &to = n.output_info(0);
  FixedFactor factor = fixed_factor(static_cast<double>(from.quantization->scales[0]) / static_cast<double>(to.quantization->scales[0]));
  if (count < 1 || count > (std::int64_t{1} << 30)) return n.refuse(cat("it reduces ", count, " elements to one, which is not supported"));
  if (mean && count > 1) {
    int bits = 0;
    while ((std::int64_t{1} << (bits + 1)) <= count) ++bits;
    bits = std::min({bits, 32, 31 + factor.shift});
    factor.multiplier = static_cast<std::int32_t>((std::int64_t{factor.multiplier} << bits) / count);
    factor.shift -= bits;
  }
  Ref value = centred(n, 0, n.input(0), DType::i32, "x");
  Ref sum = axes.empty() ? value : n.step("sum").op("reduce_sum", {value}, frontend::reduce_attrs(axes, keeps_axes(n)));
  n.output(rescaled_by(n, sum, factor));
  return success();
}

bool is_integer_reduction(const NodeImport& n) {
  return n.is_exact() && n.input_info(0).is_quantized() && !n.input_info(0).quantization->per_slice() &&
         dtype_size(*n.input_info(0).dtype) <= 2;
}

Result<void> import_mean(NodeImport& n) { return is_integer_reduction(n) ? reduce_integers(n, true) : reduce(n, n.number(0), false); }
Result<void> import_sum(NodeImport& n) { return is_integer_reduction(n) ? reduce_integers(n, false) : reduce(n, n.number(0), false); }

// Of one scale the largest integer is the largest number.
Result<void> import_extremum_of(NodeImport& n) {
  bool stored = n.is_exact() && n.input_info(0).quantization == n.output_info(0).quantization;
  return reduce(n, stored ? n.input(0) : n.number(0), stored);
}

Result<void> import_prod(NodeImport& n) { return reduce(n, n.number(0), false); }

Result<void> import_logical(NodeImport& n) {
  BUDA_ASSIGN(Dims axes, reduced_axes(n));
  Ref value = n.input(0);
  n.output(frontend::reduced_truths(n, value, std::string(n.importer().op), std::move(axes), keeps_axes(n)));
  return success();
}

constexpr OpImporter kReductionOps[] = {
    {Code::MEAN, import_mean, "reduce_avg", Exactness::exact, "axes known"},
    {Code::REDUCE_ALL, import_logical, "reduce_min", Exactness::exact, "axes known"},
    {Code::REDUCE_ANY, import_logical, "reduce_max", Exactness::exact, "axes known"},
    {Code::REDUCE_MAX, import_extremum_of, "reduce_max", Exactness::exact, "axes known"},
    {Code::REDUCE_MIN, import_extremum_of, "reduce_min", Exactness::exact, "axes known"},
    {Code::REDUCE_PROD, import_prod, "reduce_prod", Exactness::rounded, "axes known"},
    {Code::SUM, import_sum, "reduce_sum", Exactness::exact, "axes known"},
};

}  // namespace

std::span<const OpImporter> reduction_ops() { return kReductionOps; }

}  // namespace buda::tflite_frontend
