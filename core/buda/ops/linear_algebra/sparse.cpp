// SPDX-License-Identifier: Apache-2.0
// Products with selection matrices: rows of one value gathered and added up, at both levels.
#include <buda/ops/linear_algebra/sparse.hpp>

#include <buda/base/parallel.hpp>
#include <buda/base/text.hpp>
#include <buda/graph/node.hpp>
#include <buda/ops/elements/arithmetic.hpp>
#include <buda/ops/elements/buffer.hpp>
#include <buda/ops/table/evaluate_call.hpp>
#include <buda/ops/table/families.hpp>
#include <buda/ops/table/rules.hpp>

#include <algorithm>

namespace buda::ops {
namespace {

// The sizes of a product: for each of `batch` values x has `slices_in` (1 or `slices`) matrices of `rows_in` rows, the result `slices_out`
// of `rows` rows. The selection matrix has `slices` (1 or slices_out) matrices.
struct SparseShape {
  std::int64_t batch = 1, slices_in = 1, slices = 1, slices_out = 1;
  std::int64_t terms = 1;  // K
  std::int64_t rows_in = 0, rows = 0, columns = 0;
};

Result<void> check_selection_matrix(std::span<const ValueType> inputs) {
  if (!is_integer(inputs[0].dtype)) return dtype_error(cat("a selection matrix holds integers, not ", dtype_name(inputs[0].dtype)));
  if (!is_float(inputs[1].dtype)) return dtype_error(cat("a floating-point type is needed, not ", dtype_name(inputs[1].dtype)));
  if (inputs.size() < 3) return success();
  if (inputs[2].dtype != inputs[1].dtype)
    return dtype_error(cat("the weights are ", dtype_name(inputs[2].dtype), " and what they multiply is ", dtype_name(inputs[1].dtype)));
  if (inputs[2].shape != inputs[0].shape)
    return shape_error(
        cat("the weights are ", inputs[2].shape.text(), "; they need the selection matrix's shape ", inputs[0].shape.text()));
  return success();
}

Result<std::int64_t> common_slices(std::int64_t of_matrix, std::int64_t of_x) {
  if (of_matrix == of_x || of_x == 1) return of_matrix;
  if (of_matrix == 1) return of_x;
  return shape_error(
      cat("the selection matrix has ", of_matrix, " slices and x has ", of_x, "; they need the same number, or one of them 1"));
}

Result<SparseShape> sparse_shape(const Shape& picks, const Shape& x) {
  if (picks.rank() != 3) return shape_error(cat("a selection matrix is [terms, slices, rows], not ", picks.text()));
  if (x.rank() < 2) return shape_error(cat("rows are picked from a matrix or more, not from ", x.text()));
  SparseShape s;
  s.terms = picks[0];
  s.slices = picks[1];
  s.rows = picks[2];
  s.columns = x[x.rank() - 1];
  s.rows_in = x[x.rank() - 2];
  if (x.rank() > 2) s.slices_in = x[x.rank() - 3];
  for (std::size_t i = 0; i + 3 < x.rank(); ++i) s.batch *= x[i];
  BUDA_ASSIGN(s.slices_out, common_slices(s.slices, s.slices_in));
  return s;
}

Result<std::vector<ValueType>> infer_sparse(const InferCall& call) {
  BUDA_TRY(check_selection_matrix(call.inputs));
  const Shape& x = call.inputs[1].shape;
  BUDA_ASSIGN(SparseShape s, sparse_shape(call.inputs[0].shape, x));
  std::vector<std::int64_t> dims;
  for (std::size_t i = 0; i + 3 < x.rank(); ++i) dims.push_back(x[i]);
  dims.insert(dims.end(), {s.slices_out, s.rows, s.columns});
  return one(call.inputs[1].dtype, Shape(std::move(dims)));
}

// Where a selection matrix's entries lie: (k, t, r) at k * term_step + t * slice_step + r.
struct SelectionLayout {
  std::int64_t term_step = 0, slice_step = 0;
};

// One row of the result: the sum of rows of x. The order of additions is that of the terms.
template <class T>
void add_rows(const SparseShape& s, const T* x, const std::int32_t* picks, const T* weights, std::int64_t term_step, T* y) {
  bool first = true;
  for (std::int64_t k = 0; k < s.terms; ++k) {
    std::int32_t pick = picks[k * term_step];
    if (pick == 0) continue;
    const T* row = x + (pick - 1) * s.columns;
    if (weights == nullptr && first) {
      std::copy(row, row + s.columns, y);
    } else if (weights == nullptr) {
      for (std::int64_t c = 0; c < s.columns; ++c) y[c] += row[c];
    } else {
      T weight = weights[k * term_step];
      if (first) std::fill(y, y + s.columns, T{0});
      for (std::int64_t c = 0; c < s.columns; ++c) y[c] += weight * row[c];
    }
    first = false;
  }
  if (first) std::fill(y, y + s.columns, T{0});
}

template <class T>
Result<Tensor> selected_rows(const EvaluateCall& call, const SparseShape& s, SelectionLayout layout) {
  Tensor picks = call.inputs[0].cast(DType::i32), x = call.inputs[1].cast(kDTypeOf<T>);
  Tensor weights = call.inputs.size() > 2 ? call.inputs[2].cast(kDTypeOf<T>) : Tensor();
  for (std::int32_t pick : picks.as<std::int32_t>())
    if (pick < 0 || pick > s.rows_in)
      return shape_error(cat("the selection matrix names row ", pick, "; x has rows 1 to ", s.rows_in, ", and 0 names none"));
  BUDA_ASSIGN(Buffer out, Buffer::make(kDTypeOf<T>, call.outputs[0].shape));
  const T* in = x.as<T>().data();
  const T* factors = call.inputs.size() > 2 ? weights.as<T>().data() : nullptr;
  const std::int32_t* entries = picks.as<std::int32_t>().data();
  T* y = out.as<T>().data();
  // Blocks of rows, so that threads have something to do where there is one slice only.
  constexpr std::int64_t kBlock = 1024;
  std::int64_t blocks = (s.rows + kBlock - 1) / kBlock;
  parallel_for(call.threads, static_cast<std::size_t>(s.batch * s.slices_out * blocks), [&](std::size_t i) {
    auto at = static_cast<std::int64_t>(i);
    std::int64_t block = at % blocks, slice = at / blocks % s.slices_out, b = at / blocks / s.slices_out;
    const T* matrix = in + (b * s.slices_in + (s.slices_in == 1 ? 0 : slice)) * s.rows_in * s.columns;
    std::int64_t of_slice = (s.slices == 1 ? 0 : slice) * layout.slice_step;
    for (std::int64_t r = block * kBlock; r < std::min(s.rows, (block + 1) * kBlock); ++r)
      add_rows(s, matrix, entries + of_slice + r, factors == nullptr ? nullptr : factors + of_slice + r, layout.term_step,
               y + ((b * s.slices_out + slice) * s.rows + r) * s.columns);
  });
  return std::move(out).take().cast(call.outputs[0].dtype);
}

Result<std::vector<Tensor>> evaluate_sparse(const EvaluateCall& call) {
  BUDA_ASSIGN(SparseShape s, sparse_shape(call.inputs[0].shape(), call.inputs[1].shape()));
  return visit_compute<false>(compute_dtype(call.outputs[0].dtype), [&](auto tag) {
    return one_tensor(selected_rows<typename decltype(tag)::type>(call, s, {s.slices * s.rows, s.rows}));
  });
}

// A multiplication and an addition for each entry and column, with weights; otherwise an addition for each but the first term.
double sparse_flops(double entries, double terms, double repeated, double columns, bool weighted) {
  return entries * repeated * columns * (weighted ? 2 : (terms - 1) / std::max(1.0, terms));
}

double tensor_sparse_flops(std::span<const ValueType> inputs, std::span<const ValueType> outputs, const Attrs&) {
  const Shape &picks = inputs[0].shape, &y = outputs[0].shape;
  auto columns = static_cast<double>(y[y.rank() - 1]);
  double repeated = volume(y) / std::max(1.0, static_cast<double>(picks[1] * picks[2]) * columns);
  return sparse_flops(volume(picks), static_cast<double>(picks[0]), repeated, columns, inputs.size() > 2);
}

Result<SparseShape> device_sparse_shape(const Shape& picks, const Shape& x, std::int64_t slices) {
  if (picks.rank() != 4 || x.rank() != 4) return shape_error("a device op takes values of four axes");
  if (picks[0] != 1 || picks[1] != 1) return shape_error(cat("a selection matrix is one matrix, not ", picks.text()));
  if (slices < 1 || slices > picks[2])
    return shape_error(cat("a selection matrix of ", picks[2], " rows does not have ", slices, " slices"));
  SparseShape s{x[0], x[1], slices, 1, picks[2] / slices, x[2], picks[3], x[3]};
  BUDA_ASSIGN(s.slices_out, common_slices(slices, x[1]));
  return s;
}

}  // namespace

Result<std::vector<ValueType>> infer_device_sparse_matmul(const InferCall& call) {
  if (call.attrs.boolean("accumulate") || call.attrs.boolean("bias"))
    return shape_error("a product with a selection matrix (identity) does not support a bias or accumulation");
  BUDA_TRY(check_selection_matrix(call.inputs));
  BUDA_ASSIGN(SparseShape s, device_sparse_shape(call.inputs[0].shape, call.inputs[1].shape, call.attrs.integer("slices")));
  return one(call.inputs[1].dtype, {s.batch, s.slices_out, s.rows, s.columns});
}

Result<Tensor> evaluate_device_sparse_matmul(const EvaluateCall& call) {
  std::int64_t slices = call.attrs.integer("slices");
  BUDA_ASSIGN(SparseShape s, device_sparse_shape(call.inputs[0].shape(), call.inputs[1].shape(), slices));
  BUDA_ASSIGN(Tensor out, selected_rows<float>(call, s, {slices * s.rows, s.rows}));
  return out;
}

double device_sparse_matmul_flops(std::span<const ValueType> inputs, std::span<const ValueType> outputs, const Attrs& attrs) {
  auto slices = static_cast<double>(std::max<std::int64_t>(1, attrs.integer("slices")));
  const Shape& y = outputs[0].shape;
  // Terms beyond the selection matrix's own are padding; how many there are its shape does not tell.
  double terms = std::max(1.0, static_cast<double>(inputs[0].shape[2]) / slices);
  return sparse_flops(volume(inputs[0].shape), terms, static_cast<double>(y[0] * y[1]) / slices, static_cast<double>(y[3]),
                      inputs.size() > 2);
}

std::vector<OpDef> sparse_ops() {
  return {{.name = "sparse_matmul",
           .level = Level::tensor,
           .family = "sparse",
           .summary =
               "picks [terms, slices, rows] times x [..., slices, rows of x, columns]: each row of the result is the sum of the rows "
               "of x that the selection matrix names for it (from 1; 0: none), times weights; slices broadcast",
           .inputs = {"picks", "x", "weights"},
           .least_inputs = 2,
           .most_inputs = 3,
           .attrs = {},
           .infer = infer_sparse,
           .evaluate = evaluate_sparse,
           .flops = tensor_sparse_flops}};
}

bool is_sparse_product(const graph::Node& n) {
  auto identity = n.attrs.find("identity");
  return n.op() == "matmul" && identity != n.attrs.end() && identity->second == graph::Attr(true);
}

}  // namespace buda::ops
