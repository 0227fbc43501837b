// SPDX-License-Identifier: Apache-2.0
// Products of matrices: matmul and gemm of frameworks, and the device's matmul.
//
// The device's matmul takes (w, z, r, k) and (w, z, k, c), one product for each w and z; an operand with w = 1 serves all inputs of the
// batch. `accumulate` sums the results of groups of z neighbours along z into one. A bias is added as the device does it: row 0 of each of
// its tiles goes to all rows of that tile; of integers all its rows count, and the scaling of the sums follows (requant, dequant). Then
// follow the activation of `sfpu_op` and the packer's ReLU. With `identity` the first operand is a selection matrix (sparse.hpp).
#include <buda/base/text.hpp>
#include <buda/graph/tm.hpp>
#include <buda/ops/elements/arithmetic.hpp>
#include <buda/ops/elements/buffer.hpp>
#include <buda/ops/elements/strided.hpp>
#include <buda/ops/elementwise/int8.hpp>
#include <buda/ops/linear_algebra/gemm.hpp>
#include <buda/ops/linear_algebra/sparse.hpp>
#include <buda/ops/table/device_attribute.hpp>
#include <buda/ops/table/evaluate_call.hpp>
#include <buda/ops/table/families.hpp>
#include <buda/ops/table/registry.hpp>
#include <buda/ops/table/rules.hpp>

#include <algorithm>
#include <cmath>

namespace buda::ops {
namespace {

// ---- tensor level

// What numpy.matmul makes of two shapes: vectors count as matrices of one row or one column, which the result then lacks.
struct Product {
  Shape batch;   // broadcast leading axes
  Shape a, b;    // with at least two axes
  Shape result;  // as the op gives it
  std::int64_t m = 0, k = 0, n = 0;
};

Shape leading(const Shape& s, std::size_t drop) {
  return Shape(std::vector<std::int64_t>(s.begin(), s.end() - static_cast<std::ptrdiff_t>(drop)));
}

Result<Product> product_of(const Shape& sa, const Shape& sb) {
  if (sa.rank() == 0 || sb.rank() == 0) return shape_error("a matrix product is not defined for scalars");
  Product p;
  p.a = sa.rank() == 1 ? Shape{1, sa[0]} : sa;
  p.b = sb.rank() == 1 ? Shape{sb[0], 1} : sb;
  p.m = p.a[p.a.rank() - 2];
  p.k = p.a[p.a.rank() - 1];
  p.n = p.b[p.b.rank() - 1];
  if (p.k != p.b[p.b.rank() - 2])
    return shape_error(cat("the inner sizes of ", sa.text(), " and ", sb.text(), " differ: ", p.k, " and ", p.b[p.b.rank() - 2]));
  auto batch = broadcast(leading(p.a, 2), leading(p.b, 2));
  if (!batch) return shape_error(cat("the leading axes of ", sa.text(), " and ", sb.text(), " cannot be broadcast together"));
  p.batch = std::move(*batch);
  p.result = p.batch;
  if (sa.rank() > 1) p.result.push_back(p.m);
  if (sb.rank() > 1) p.result.push_back(p.n);
  return p;
}

Result<std::vector<ValueType>> infer_matmul(const InferCall& call) {
  BUDA_ASSIGN(DType dtype, common_dtype(call.inputs, Accepts::numbers));
  BUDA_ASSIGN(Product p, product_of(call.inputs[0].shape, call.inputs[1].shape));
  if (call.inputs.size() == 3 && broadcast(p.result, call.inputs[2].shape) != p.result)
    return shape_error(cat("the bias ", call.inputs[2].shape.text(), " does not broadcast to the product's shape ", p.result.text()));
  return one(dtype, std::move(p.result));
}

// Signed integers are multiplied as unsigned ones of the same bits: the low 64 bits of the result are the same.
template <class T>
using GemmType = std::conditional_t<std::is_integral_v<T>, std::uint64_t, T>;

template <class T>
const GemmType<T>* elements(const Tensor& t) {
  return reinterpret_cast<const GemmType<T>*>(t.as<T>().data());
}

// All products of a batch, in the compute type.
template <class T>
Result<Tensor> products(const Tensor& a, const Tensor& b, const Product& p, unsigned threads) {
  Tensor sa = a.cast(kDTypeOf<T>), sb = b.cast(kDTypeOf<T>);
  Shape shape = p.batch;
  shape.push_back(p.m);
  shape.push_back(p.n);
  BUDA_ASSIGN(Buffer out, Buffer::make(kDTypeOf<T>, shape));
  auto* c = reinterpret_cast<GemmType<T>*>(out.bytes());
  StridedWalk<2> walk(p.batch, {broadcast_strides(leading(p.a, 2), p.batch), broadcast_strides(leading(p.b, 2), p.batch)});
  auto [step_a, step_b] = walk.inner_strides();
  walk.run(0, walk.count(), [&, da = step_a, db = step_b](std::int64_t at, const auto& offsets, std::int64_t length) {
    for (std::int64_t i = 0; i < length; ++i)
      gemm(p.m, p.n, p.k, Matrix<GemmType<T>>{elements<T>(sa) + (offsets[0] + i * da) * p.m * p.k},
           Matrix<GemmType<T>>{elements<T>(sb) + (offsets[1] + i * db) * p.k * p.n}, c + (at + i) * p.m * p.n, threads);
  });
  return std::move(out).take();
}

Result<std::vector<Tensor>> evaluate_matmul(const EvaluateCall& call) {
  BUDA_ASSIGN(Product p, product_of(call.inputs[0].shape(), call.inputs[1].shape()));
  DType dtype = call.outputs[0].dtype;
  return visit_compute<true>(compute_dtype(dtype), [&](auto tag) -> Result<std::vector<Tensor>> {
    using T = typename decltype(tag)::type;
    BUDA_ASSIGN(Tensor out, products<T>(call.inputs[0], call.inputs[1], p, call.threads));
    BUDA_ASSIGN(out, out.reshaped(p.result));
    if (call.inputs.size() == 3) {
      BUDA_ASSIGN(out, combined<T>(out, call.inputs[2], p.result, call.threads, [](T x, T y) { return wrapping_add(x, y); }));
    }
    return std::vector<Tensor>{out.cast(dtype)};
  });
}

double product_flops(std::span<const ValueType> inputs, std::span<const ValueType> outputs, const Attrs&) {
  const Shape& a = inputs[0].shape;
  double adds = inputs.size() > 2 ? volume(outputs[0].shape) : 0;
  return 2 * volume(outputs[0].shape) * static_cast<double>(a[a.rank() - 1]) + adds;
}

// ---- integers in Int8

Result<std::vector<ValueType>> infer_int8_matmul(const InferCall& call) {
  BUDA_ASSIGN(DType dtype, common_dtype(call.inputs, Accepts::floats));
  BUDA_ASSIGN(Product p, product_of(call.inputs[0].shape, call.inputs[1].shape));
  if (broadcast(p.result, call.inputs[2].shape) != p.result)
    return shape_error(cat("the bias ", call.inputs[2].shape.text(), " does not broadcast to the product's shape ", p.result.text()));
  if (call.inputs[3].shape != Shape{p.n})
    return shape_error(cat("the scale is ", call.inputs[3].shape.text(), "; one number for each of the ", p.n, " columns is needed"));
  return one(dtype, std::move(p.result));
}

Result<std::vector<Tensor>> evaluate_int8_matmul(const EvaluateCall& call) {
  BUDA_ASSIGN(Product p, product_of(call.inputs[0].shape(), call.inputs[1].shape()));
  BUDA_ASSIGN(Tensor sums, products<float>(call.inputs[0], call.inputs[1], p, call.threads));
  BUDA_ASSIGN(sums, sums.reshaped(p.result));
  BUDA_ASSIGN(Tensor out, scaled_sums(call, sums, call.inputs[2], call.inputs[3], call.attrs.boolean("dequantize")));
  return std::vector<Tensor>{out.cast(call.outputs[0].dtype)};
}

// ---- gemm

struct GemmShape {
  std::int64_t m = 0, n = 0, k = 0;
};

Result<GemmShape> gemm_shape(const Shape& a, const Shape& b, const Attrs& attrs) {
  if (a.rank() != 2 || b.rank() != 2) return shape_error(cat("gemm takes matrices, not ", a.text(), " and ", b.text()));
  bool ta = attrs.boolean("trans_a"), tb = attrs.boolean("trans_b");
  GemmShape s{a[ta ? 1 : 0], b[tb ? 0 : 1], a[ta ? 0 : 1]};
  std::int64_t k = b[tb ? 1 : 0];
  if (k != s.k)
    return shape_error(cat("the inner sizes of ", a.text(), ta ? " (transposed)" : "", " and ", b.text(), tb ? " (transposed)" : "",
                           " differ: ", s.k, " and ", k));
  return s;
}

Result<std::vector<ValueType>> infer_gemm(const InferCall& call) {
  BUDA_ASSIGN(DType dtype, common_dtype(call.inputs, Accepts::numbers));
  BUDA_ASSIGN(GemmShape s, gemm_shape(call.inputs[0].shape, call.inputs[1].shape, call.attrs));
  Shape shape{s.m, s.n};
  if (call.inputs.size() == 3 && broadcast(shape, call.inputs[2].shape) != shape)
    return shape_error(cat("c is ", call.inputs[2].shape.text(), ", which does not broadcast to the product's shape ", shape.text()));
  return one(dtype, std::move(shape));
}

// alpha and beta are real numbers: integers are scaled as doubles only where a factor is not 1.
template <class T>
T scaled(T x, double factor) {
  if constexpr (std::is_integral_v<T>) {
    return factor == 1 ? x : Tensor::scalar(static_cast<double>(x) * factor).cast(kDTypeOf<T>).template as<T>()[0];
  } else {
    return x * static_cast<T>(factor);
  }
}

template <class T>
Result<Tensor> gemm_result(const EvaluateCall& call, const GemmShape& s) {
  Tensor a = call.inputs[0].cast(kDTypeOf<T>), b = call.inputs[1].cast(kDTypeOf<T>);
  double alpha = call.attrs.real("alpha"), beta = call.attrs.real("beta");
  Shape shape{s.m, s.n};
  BUDA_ASSIGN(Buffer out, Buffer::make(kDTypeOf<T>, shape));
  gemm(s.m, s.n, s.k, Matrix<GemmType<T>>{elements<T>(a), call.attrs.boolean("trans_a")},
       Matrix<GemmType<T>>{elements<T>(b), call.attrs.boolean("trans_b")}, reinterpret_cast<GemmType<T>*>(out.bytes()), call.threads);
  if (alpha != 1)
    for (T& v : out.as<T>()) v = scaled(v, alpha);
  Tensor product = std::move(out).take();
  if (call.inputs.size() < 3 || beta == 0) return product;
  return combined<T>(product, call.inputs[2], shape, call.threads, [beta](T x, T c) { return wrapping_add(x, scaled(c, beta)); });
}

Result<std::vector<Tensor>> evaluate_gemm(const EvaluateCall& call) {
  BUDA_ASSIGN(GemmShape s, gemm_shape(call.inputs[0].shape(), call.inputs[1].shape(), call.attrs));
  return visit_compute<true>(compute_dtype(call.outputs[0].dtype), [&](auto tag) -> Result<std::vector<Tensor>> {
    BUDA_ASSIGN(Tensor out, gemm_result<typename decltype(tag)::type>(call, s));
    return std::vector<Tensor>{out.cast(call.outputs[0].dtype)};
  });
}

double gemm_flops(std::span<const ValueType> inputs, std::span<const ValueType> outputs, const Attrs& attrs) {
  auto k = static_cast<double>(inputs[0].shape[attrs.boolean("trans_a") ? 0 : 1]);
  return volume(outputs[0].shape) * (2 * k + (inputs.size() > 2 ? 1 : 0));
}

// ---- device level

// Of integers, whose sums are scaled.
bool scales_sums(const Attrs& attrs) { return attrs.boolean("requant") || attrs.boolean("dequant"); }

std::string wrong_operands(std::size_t given, bool bias, bool scaled) {
  if (!scaled) return bias ? "'bias' is set, but there is no third input" : "there is a third input, but 'bias' is not set";
  return cat("there are ", given, " inputs; two operands", bias ? ", a bias" : "", " and the scales of requant or dequant are needed");
}

Result<std::vector<ValueType>> infer_device_matmul(const InferCall& call) {
  if (call.attrs.boolean("identity")) return infer_device_sparse_matmul(call);
  BUDA_ASSIGN(DType dtype, common_dtype(call.inputs, Accepts::floats));
  for (const auto& input : call.inputs)
    if (input.shape.rank() != 4) return shape_error(cat("a device op takes values of four axes, not ", input.shape.text()));
  const Shape& a = call.inputs[0].shape;
  const Shape& b = call.inputs[1].shape;
  bool same_w = a[0] == b[0] || a[0] == 1 || b[0] == 1;
  if (!same_w || a[1] != b[1] || a[3] != b[2])
    return shape_error(cat("the operands arrive as ", a.text(), " and ", b.text(),
                           "; (w, z, r, k) and (w, z, k, c) are needed, with the same z and k, and w may be 1"));
  std::int64_t group = call.attrs.boolean("accumulate") ? call.attrs.integer("z") : 1;
  if (group < 1 || a[1] % group != 0) return shape_error(cat("z = ", a[1], " slices cannot be accumulated in groups of ", group));
  Shape shape{std::max(a[0], b[0]), a[1] / group, a[2], b[3]};
  const bool bias = call.attrs.boolean("bias"), scaled = scales_sums(call.attrs);
  if (call.inputs.size() != 2u + (bias ? 1 : 0) + (scaled ? 1 : 0)) return shape_error(wrong_operands(call.inputs.size(), bias, scaled));
  for (std::size_t i = 2; i < call.inputs.size(); ++i) {
    Shape wanted = shape;
    if (call.inputs[i].shape[0] == 1) wanted[0] = 1;
    if (call.inputs[i].shape != wanted)
      return shape_error(cat(i == 2 && bias ? "the bias arrives as " : "the scales arrive as ", call.inputs[i].shape.text(), " where ",
                             shape.text(), " is needed; edges can broadcast"));
  }
  return one(dtype, std::move(shape));
}

// Sums groups of neighbours along z.
Result<Tensor> accumulated(const Tensor& product, std::int64_t group) {
  const Shape& s = product.shape();
  BUDA_ASSIGN(Buffer out, Buffer::make(DType::f32, {s[0], s[1] / group, s[2], s[3]}));
  auto slice = static_cast<std::size_t>(s[2] * s[3]);
  std::span<const float> in = product.as<float>();
  std::span<float> sums = out.as<float>();
  std::fill(sums.begin(), sums.end(), 0.0f);
  for (std::size_t i = 0; i < in.size(); ++i) sums[i / slice / static_cast<std::size_t>(group) * slice + i % slice] += in[i];
  return std::move(out).take();
}

// Row 0 of each tile of the bias to all rows of the tile.
Result<Tensor> tile_rows_filled(const Tensor& bias) {
  BUDA_ASSIGN(Buffer out, Buffer::make(DType::f32, bias.shape()));
  auto cols = static_cast<std::size_t>(bias.shape()[3]);
  std::span<const float> in = bias.as<float>();
  std::span<float> filled = out.as<float>();
  for (std::size_t row = 0; row * cols < in.size(); ++row) {
    auto first = in.subspan(row / graph::kTileSide * graph::kTileSide * cols, cols);
    std::copy(first.begin(), first.end(), filled.begin() + static_cast<std::ptrdiff_t>(row * cols));
  }
  return std::move(out).take();
}

// Sums that are NaN once more without products with 0, which the matrix unit takes for 0 whatever the other factor is.
Result<Tensor> without_zeros_times_infinity(Tensor product, const Tensor& left, const Tensor& right, const Product& p) {
  std::span<const float> sums = product.as<float>();
  if (std::none_of(sums.begin(), sums.end(), [](float v) { return std::isnan(v); })) return product;
  BUDA_ASSIGN(Buffer out, Buffer::make(DType::f32, product.shape()));
  std::span<float> again = out.as<float>();
  std::copy(sums.begin(), sums.end(), again.begin());
  const Tensor sa = left.cast(DType::f32), sb = right.cast(DType::f32);
  StridedWalk<2> walk(p.batch, {broadcast_strides(leading(p.a, 2), p.batch), broadcast_strides(leading(p.b, 2), p.batch)});
  auto [step_a, step_b] = walk.inner_strides();
  walk.run(0, walk.count(), [&, da = step_a, db = step_b](std::int64_t at, const auto& offsets, std::int64_t length) {
    for (std::int64_t i = 0; i < length * p.m * p.n; ++i) {
      float& sum = again[static_cast<std::size_t>(at * p.m * p.n + i)];
      if (!std::isnan(sum)) continue;
      const std::int64_t slice = i / (p.m * p.n), row = i / p.n % p.m, col = i % p.n;
      const float* a = sa.as<float>().data() + (offsets[0] + slice * da) * p.m * p.k + row * p.k;
      const float* b = sb.as<float>().data() + (offsets[1] + slice * db) * p.k * p.n + col;
      sum = 0;
      for (std::int64_t k = 0; k < p.k; ++k)
        if (a[k] != 0 && b[k * p.n] != 0) sum += a[k] * b[k * p.n];
    }
  });
  return std::move(out).take();
}

Result<std::vector<Tensor>> evaluate_device_matmul(const EvaluateCall& call) {
  if (call.attrs.boolean("identity")) return one_tensor(evaluate_device_sparse_matmul(call));
  BUDA_ASSIGN(Product p, product_of(call.inputs[0].shape(), call.inputs[1].shape()));
  BUDA_ASSIGN(Tensor out, products<float>(call.inputs[0], call.inputs[1], p, call.threads));
  BUDA_ASSIGN(out, without_zeros_times_infinity(std::move(out), call.inputs[0], call.inputs[1], p));
  if (call.attrs.boolean("accumulate")) {
    BUDA_ASSIGN(out, accumulated(out, call.attrs.integer("z")));
  }
  if (scales_sums(call.attrs)) {
    BUDA_ASSIGN(Tensor zeros, Tensor::zeros(DType::f32, {1, 1, 1, 1}));
    const Tensor& bias = call.attrs.boolean("bias") ? call.inputs[2] : zeros;
    BUDA_ASSIGN(out, scaled_sums(call, out, bias, call.inputs.back(), call.attrs.boolean("dequant")));
  } else if (call.attrs.boolean("bias")) {
    BUDA_ASSIGN(Tensor bias, tile_rows_filled(call.inputs[2].cast(DType::f32)));
    BUDA_ASSIGN(out, combined<float>(out, bias, out.shape(), call.threads, [](float x, float y) { return x + y; }));
  }
  if (call.attrs.text("sfpu_op") == "gelu") {
    const OpDef* gelu = standard_ops().find(Level::device, "gelu");
    BUDA_ASSIGN(auto activated, evaluate(*gelu, std::span(&out, 1), {}, call.threads));
    out = std::move(activated[0]);
  }
  return std::vector<Tensor>{out.cast(call.outputs[0].dtype)};
}

double device_product_flops(std::span<const ValueType> inputs, std::span<const ValueType> outputs, const Attrs& attrs) {
  if (attrs.boolean("identity")) return device_sparse_matmul_flops(inputs, outputs, attrs);
  const Shape& a = inputs[0].shape;
  double slices = volume(outputs[0].shape) / std::max(1.0, static_cast<double>(outputs[0].shape[1])) * static_cast<double>(a[1]);
  return 2 * slices * static_cast<double>(a[3]) + (attrs.boolean("bias") ? volume(outputs[0].shape) : 0);
}

}  // namespace

std::vector<OpDef> matmul_ops() {
  OpDef matmul{.name = "matmul",
               .level = Level::tensor,
               .family = "matmul",
               .summary = "a times b, plus bias; leading axes broadcast, and vectors count as matrices, as in numpy.matmul",
               .inputs = {"a", "b", "bias"},
               .least_inputs = 2,
               .most_inputs = 3,
               .attrs = {},
               .infer = infer_matmul,
               .evaluate = evaluate_matmul,
               .flops = product_flops};
  OpDef integers{.name = "int8_matmul",
                 .level = Level::tensor,
                 .family = "matmul",
                 .summary =
                     "of integers in Int8: (a times b, plus bias) times the scale of the column, plus zero_point, rounded and limited "
                     "as the device's Int8 is",
                 .inputs = {"a", "b", "bias", "scale"},
                 .least_inputs = 4,
                 .most_inputs = 4,
                 .attrs = int8_product_attrs(),
                 .infer = infer_int8_matmul,
                 .evaluate = evaluate_int8_matmul,
                 .flops = product_flops};
  OpDef general{.name = "gemm",
                .level = Level::tensor,
                .family = "matmul",
                .summary = "alpha * a * b + beta * c, for matrices a and b, which may be transposed; c broadcasts",
                .inputs = {"a", "b", "c"},
                .least_inputs = 2,
                .most_inputs = 3,
                .attrs = {{"alpha", AttrType::real, 1.0, "factor of the product", {}},
                          {"beta", AttrType::real, 1.0, "factor of c", {}},
                          {"trans_a", AttrType::boolean, false, "use the transpose of a", {}},
                          {"trans_b", AttrType::boolean, false, "use the transpose of b", {}}},
                .infer = infer_gemm,
                .evaluate = evaluate_gemm,
                .flops = gemm_flops};
  OpDef device{.name = "matmul",
               .level = Level::device,
               .family = "matmul",
               .summary =
                   "a times b for each w and z, plus bias, of which row 0 of each tile counts for the whole tile; with requant or "
                   "dequant, of integers, all rows of the bias count, and the sums are scaled",
               .inputs = {"a", "b", "bias", "scales"},
               .least_inputs = 2,
               .most_inputs = 4,
               .attrs = with_packer_attrs(
                   {device_attr("bias"),
                    device_attr("requant"),
                    device_attr("dequant"),
                    device_attr("zero_point"),
                    device_attr("accumulate"),
                    device_attr("z", 1),
                    {"sfpu_op", AttrType::text, std::string(), "activation of the result", {"", "gelu"}},
                    {"identity", AttrType::boolean, false, "a is a selection matrix (sparse_matmul), the third input its weights", {}},
                    {"slices", AttrType::integer, std::int64_t{1}, "slices of the selection matrix, with identity", {}}}),
               .infer = infer_device_matmul,
               .evaluate = evaluate_device_matmul,
               .flops = device_product_flops};
  std::vector<OpDef> all{std::move(matmul), std::move(integers), std::move(general), std::move(device)};
  for (auto family : {&sparse_ops, &depthwise_ops})
    for (OpDef& def : family()) all.push_back(std::move(def));
  return all;
}

}  // namespace buda::ops
