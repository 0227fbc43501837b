// SPDX-License-Identifier: Apache-2.0
// Reductions along axes.
#include "node_import.hpp"
#include "quantized.hpp"

#include <buda/base/text.hpp>

#include <algorithm>
#include <cmath>

namespace buda::tflite_frontend {
namespace {

namespace format = tflite_format;
using Ref = NodeImport::Ref;
using Dims = NodeImport::Dims;

// Axes from the file may repeat.
Result<Dims> reduced_axes(NodeImport& n, const Shape& x) {
  BUDA_ASSIGN(Dims given, n.known_integers(1, "axes"));
  Dims axes;
  for (auto a : given) {
    BUDA_ASSIGN(auto axis, frontend::axis_of(n, a, x.rank()));
    if (std::find(axes.begin(), axes.end(), axis) == axes.end()) axes.push_back(axis);
  }
  std::sort(axes.begin(), axes.end());
  return axes;
}

// The rows and columns of an image that was computed with channels first.
bool reduces_image(const Shape& x, const Dims& axes) { return x.rank() == 4 && axes == Dims{1, 2}; }

ops::AttrMap reduce_attrs(Dims axes, bool keep) {
  ops::AttrMap attrs{{"dims", std::move(axes)}};
  if (!keep) attrs["keep_dims"] = false;
  return attrs;
}

Result<void> reduce(NodeImport& n, Ref value, bool stored) {
  bool keep = n.options<format::ReducerOptions>().keep_dims();
  BUDA_ASSIGN(Shape x, n.shape(0));
  BUDA_ASSIGN(Dims axes, reduced_axes(n, x));
  Ref y;
  if (axes.empty()) {
    y = value;
  } else if (auto first = n.layouts().channels_first(value); first && reduces_image(x, axes)) {
    y = n.result().op(n.importer().op, {*first}, reduce_attrs({2, 3}, keep));
    if (keep) y = n.channels_last(y);
  } else {
    y = n.result().op(n.importer().op, {value}, reduce_attrs(std::move(axes), keep));
  }
  if (stored)
    n.output(y);
  else
    n.output_number(y);
  return success();
}

// The sum of integers, scaled. A mean's factor is divided by the number of elements as the reference does: in integers, with as many more
// bits as the multiplier leaves.
Result<void> reduce_integers(NodeImport& n, bool mean) {
  bool keep = n.options<format::ReducerOptions>().keep_dims();
  BUDA_ASSIGN(Shape x, n.shape(0));
  BUDA_ASSIGN(Dims axes, reduced_axes(n, x));
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
  Ref sum = axes.empty() ? value : n.step("sum").op("reduce_sum", {value}, reduce_attrs(axes, keep));
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

// Booleans as numbers: the largest is 1 where one is true, the smallest where all are.
Result<void> import_logical(NodeImport& n) {
  bool keep = n.options<format::ReducerOptions>().keep_dims();
  BUDA_ASSIGN(Shape x, n.shape(0));
  BUDA_ASSIGN(Dims axes, reduced_axes(n, x));
  Ref numbers = n.cast(n.input(0), DType::i32, "numbers");
  Ref reduced = axes.empty() ? numbers : n.step("reduced").op(n.importer().op, {numbers}, reduce_attrs(std::move(axes), keep));
  n.output(n.result().op("cast", {reduced}, {{"dtype", std::string("BOOL")}}));
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
