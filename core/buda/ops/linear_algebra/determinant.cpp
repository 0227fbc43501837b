// SPDX-License-Identifier: Apache-2.0
// Determinants of square matrices, by elimination with the largest pivot of each column, in fp64.
#include <buda/base/parallel.hpp>
#include <buda/base/text.hpp>
#include <buda/ops/elements/arithmetic.hpp>
#include <buda/ops/elements/buffer.hpp>
#include <buda/ops/table/evaluate_call.hpp>
#include <buda/ops/table/families.hpp>
#include <buda/ops/table/rules.hpp>

#include <algorithm>
#include <cmath>

namespace buda::ops {
namespace {

Result<std::vector<ValueType>> infer_determinant(const InferCall& call) {
  BUDA_ASSIGN(DType dtype, common_dtype(call.inputs, Accepts::floats));
  const Shape& x = call.inputs[0].shape;
  if (x.rank() < 2 || x[x.rank() - 1] != x[x.rank() - 2])
    return shape_error(cat("x is ", x.text(), "; its last two axes must make square matrices"));
  return one(dtype, Shape(std::vector<std::int64_t>(x.begin(), x.end() - 2)));
}

double determinant(std::vector<double> m, std::size_t n) {
  double product = 1;
  for (std::size_t c = 0; c < n; ++c) {
    std::size_t pivot = c;
    for (std::size_t r = c + 1; r < n; ++r)
      if (std::abs(m[r * n + c]) > std::abs(m[pivot * n + c])) pivot = r;
    if (m[pivot * n + c] == 0) return 0;
    if (pivot != c) {
      std::swap_ranges(m.begin() + static_cast<std::ptrdiff_t>(c * n), m.begin() + static_cast<std::ptrdiff_t>((c + 1) * n),
                       m.begin() + static_cast<std::ptrdiff_t>(pivot * n));
      product = -product;
    }
    product *= m[c * n + c];
    for (std::size_t r = c + 1; r < n; ++r) {
      double factor = m[r * n + c] / m[c * n + c];
      for (std::size_t k = c; k < n; ++k) m[r * n + k] -= factor * m[c * n + k];
    }
  }
  return product;
}

Result<std::vector<Tensor>> evaluate_determinant(const EvaluateCall& call) {
  Tensor x = call.inputs[0].cast(DType::f64);
  BUDA_ASSIGN(Buffer out, Buffer::make(DType::f64, call.outputs[0].shape));
  std::span<double> y = out.as<double>();
  auto n = static_cast<std::size_t>(x.shape()[x.shape().rank() - 1]);
  const double* m = x.as<double>().data();
  parallel_for(call.threads, y.size(), [&](std::size_t i) { y[i] = determinant({m + i * n * n, m + (i + 1) * n * n}, n); });
  return std::vector<Tensor>{std::move(out).take().cast(call.outputs[0].dtype)};
}

double determinant_flops(std::span<const ValueType> inputs, std::span<const ValueType>, const Attrs&) {
  const Shape& x = inputs[0].shape;
  return 2.0 / 3 * volume(x) * static_cast<double>(x[x.rank() - 1]);
}

}  // namespace

std::vector<OpDef> linear_algebra_ops() {
  return {{.name = "determinant",
           .level = Level::tensor,
           .family = "linear_algebra",
           .summary = "the determinant of each matrix in the last two axes",
           .inputs = {"x"},
           .least_inputs = 1,
           .most_inputs = 1,
           .attrs = {},
           .infer = infer_determinant,
           .evaluate = evaluate_determinant,
           .flops = determinant_flops}};
}

}  // namespace buda::ops
