// SPDX-License-Identifier: Apache-2.0
// Reductions over axes: a function of the elements, a sum (or maximum, minimum, product), a function of the result.
#include "node_import.hpp"

#include <buda/base/text.hpp>

namespace buda::onnx_frontend {
namespace {

using Ref = graph::ValueRef;

struct Reduction {
  NodeImport::Dims axes;  // all that are reduced; none for a scalar, which is its own sum
  bool keep = true;
};

// No axes mean all, unless the node says that they mean none: then every element is its own sum.
Result<Reduction> reduction(NodeImport& n) {
  BUDA_ASSIGN(Shape shape, n.shape(0));
  BUDA_ASSIGN(auto given, n.axes_argument(1));
  Reduction out;
  out.keep = n.integer("keepdims", 1) != 0;
  if (given && !given->empty()) {
    BUDA_ASSIGN(out.axes, n.axes(*given, shape.rank()));
  } else if (n.integer("noop_with_empty_axes", 0) == 0) {
    for (std::size_t i = 0; i < shape.rank(); ++i) out.axes.push_back(static_cast<std::int64_t>(i));
  }
  return out;
}

Ref reduced(ops::Builder& builder, std::string_view op, Ref x, const Reduction& r) {
  return builder.op(op, {x}, {{"dims", r.axes}, {"keep_dims", r.keep}});
}

Result<void> import_reduce(NodeImport& n) {
  BUDA_ASSIGN(auto r, reduction(n));
  BUDA_ASSIGN(auto type, n.type(0));
  if (r.axes.empty()) {
    n.output_input(0);
    return success();
  }
  // Of booleans, false is less than true.
  if (type.dtype == DType::boolean) {
    auto numbers = n.cast(n.input(0), DType::u8, "numbers");
    auto y = reduced(n.step("reduced"), n.importer().op, numbers, r);
    n.output(n.result().op("cast", {y}, {{"dtype", std::string(dtype_name(DType::boolean))}}));
    return success();
  }
  auto x = n.input(0);
  n.output(reduced(n.result(), n.importer().op, x, r));
  return success();
}

// log(sum(e^x)) as log(sum(e^(x - m))) + m with the maximum m, so that nothing overflows.
Ref log_sum_exp(NodeImport& n, Ref x, const Reduction& r) {
  auto most = reduced(n.step("max"), "reduce_max", x, {r.axes, true});
  auto shifted = n.step("shifted").subtract(x, most);
  auto powers = n.step("exp").exp(shifted);
  auto sum = reduced(n.step("sum"), "reduce_sum", powers, r);
  auto logarithm = n.step("log").log(sum);
  if (!r.keep && most.valid()) most = n.step("max.squeezed").squeeze(most, r.axes);
  return n.step("result").add(logarithm, most);
}

// Those of which there is no operation of ours. Integers, for which roots and logarithms are not defined here, are computed in fp64.
Result<void> import_composed(NodeImport& n) {
  BUDA_ASSIGN(auto r, reduction(n));
  BUDA_ASSIGN(auto type, n.type(0));
  std::string_view what = n.importer().op;
  bool real = what == "l2" || what == "log_sum" || what == "log_sum_exp";
  bool converts = real && !is_float(type.dtype);
  Ref x = n.input(0);
  if (converts) x = n.cast(x, DType::f64, "wide");
  auto sum = [&](Ref value) { return r.axes.empty() ? value : reduced(n.step("sum"), "reduce_sum", value, r); };
  Ref y;
  if (what == "l1") {
    y = sum(n.step("abs").abs(x));
  } else if (what == "sum_square") {
    y = sum(n.step("square").square(x));
  } else if (what == "l2") {
    y = n.step("root").sqrt(sum(n.step("square").square(x)));
  } else if (what == "log_sum") {
    y = n.step("log").log(sum(x));
  } else if (r.axes.empty()) {
    y = x;
  } else {
    y = log_sum_exp(n, x, r);
  }
  if (converts)
    n.output(n.result().op("cast", {y}, {{"dtype", std::string(dtype_name(type.dtype))}}));
  else
    n.output(n.result().identity(y));
  return success();
}

constexpr OpImporter kReductionsOps[] = {
    {"ReduceL1", 1, import_composed, "l1"},          {"ReduceL2", 1, import_composed, "l2"},
    {"ReduceLogSum", 1, import_composed, "log_sum"}, {"ReduceLogSumExp", 1, import_composed, "log_sum_exp"},
    {"ReduceMax", 1, import_reduce, "reduce_max"},   {"ReduceMean", 1, import_reduce, "reduce_avg"},
    {"ReduceMin", 1, import_reduce, "reduce_min"},   {"ReduceProd", 1, import_reduce, "reduce_prod"},
    {"ReduceSum", 1, import_reduce, "reduce_sum"},   {"ReduceSumSquare", 1, import_composed, "sum_square"},
};

}  // namespace

std::span<const OpImporter> reduction_ops() { return kReductionsOps; }

}  // namespace buda::onnx_frontend
