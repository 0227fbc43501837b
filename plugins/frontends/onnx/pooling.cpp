// SPDX-License-Identifier: Apache-2.0
// Pools: over windows, and over whole channels.
#include "window.hpp"

#include <buda/base/text.hpp>
#include <buda/tensor/tensor.hpp>

#include <algorithm>

namespace buda::onnx_frontend {
namespace {

using Dims = NodeImport::Dims;
using Ref = NodeImport::Ref;

Result<void> import_max_pool(NodeImport& n) {
  BUDA_ASSIGN(Shape x, n.shape(0));
  BUDA_ASSIGN(auto window, window_arguments(n, x));
  ops::AttrMap attrs = window.attrs();
  attrs["kernel"] = window.kernel;
  if (n.integer("ceil_mode", 0) != 0) attrs["ceil_mode"] = true;
  if (n.has_output(1)) attrs["indices"] = std::string(n.integer("storage_order", 0) == 0 ? "row_major" : "column_major");
  Ref pooled = n.result().op(cat("max_pool", window.rank(), "d"), {n.input(0)}, std::move(attrs));
  n.output(pooled);
  if (pooled.valid() && n.has_output(1)) n.output(Ref(pooled.node, 1), 1);
  return success();
}

Result<void> import_average_pool(NodeImport& n) {
  BUDA_ASSIGN(Shape x, n.shape(0));
  BUDA_ASSIGN(auto window, window_arguments(n, x));
  ops::AttrMap attrs = window.attrs();
  attrs["kernel"] = window.kernel;
  if (n.integer("ceil_mode", 0) != 0) attrs["ceil_mode"] = true;
  if (n.integer("count_include_pad", 0) == 0) attrs["count_include_pad"] = false;
  n.output(n.result().op(cat("avg_pool", window.rank(), "d"), {n.input(0)}, std::move(attrs)));
  return success();
}

// ---- the p-norm: |x|^p, summed, to the power of 1/p

Result<Ref> powers(NodeImport& n, double p) {
  Ref x = n.input(0);
  if (p == 1) return n.step("abs").abs(x);
  if (p == 2) return n.step("square").square(x);
  BUDA_ASSIGN(auto type, n.type(0));
  Ref exponent = n.step("exponent").constant(Tensor::scalar(p).cast(type.dtype));
  Ref magnitude = n.step("abs").abs(x);
  return n.step("power").power(magnitude, exponent);
}

Result<Ref> root(NodeImport& n, Ref sum, double p) {
  if (p == 1) return sum;
  if (p == 2) return n.result().sqrt(sum);
  BUDA_ASSIGN(auto type, n.type(0));
  Ref exponent = n.step("root").constant(Tensor::scalar(1 / p).cast(type.dtype));
  return n.result().power(sum, exponent);
}

Result<double> norm_order(NodeImport& n) {
  auto p = static_cast<double>(n.integer("p", 2));
  if (p < 1) return n.refuse(cat("its p is ", p, "; 1 and more are supported"));
  return p;
}

Result<void> import_lp_pool(NodeImport& n) {
  BUDA_ASSIGN(Shape x, n.shape(0));
  BUDA_ASSIGN(auto window, window_arguments(n, x));
  BUDA_ASSIGN(double p, norm_order(n));
  ops::AttrMap attrs = window.attrs();
  attrs["kernel"] = window.kernel;
  if (n.integer("ceil_mode", 0) != 0) attrs["ceil_mode"] = true;
  attrs["divisor_override"] = 1.0;
  BUDA_ASSIGN(Ref raised, powers(n, p));
  ops::Builder& builder = p == 1 ? n.result() : n.step("sum");
  Ref sum = builder.op(cat("avg_pool", window.rank(), "d"), {raised}, std::move(attrs));
  BUDA_ASSIGN(Ref result, root(n, sum, p));
  n.output(result);
  return success();
}

// ---- whole channels

Result<Dims> spatial_axes(const NodeImport& n) {
  BUDA_ASSIGN(Shape x, n.shape(0));
  if (x.rank() < 3) return n.refuse(cat("its input is ", x.text(), "; it needs at least one axis after samples and channels"));
  Dims axes;
  for (std::size_t i = 2; i < x.rank(); ++i) axes.push_back(static_cast<std::int64_t>(i));
  return axes;
}

Result<void> import_global_pool(NodeImport& n) {
  BUDA_ASSIGN(Dims axes, spatial_axes(n));
  Ref x = n.input(0);
  n.output(n.importer().op == "reduce_avg" ? n.result().reduce_avg(x, std::move(axes)) : n.result().reduce_max(x, std::move(axes)));
  return success();
}

Result<void> import_global_lp_pool(NodeImport& n) {
  BUDA_ASSIGN(Dims axes, spatial_axes(n));
  BUDA_ASSIGN(double p, norm_order(n));
  BUDA_ASSIGN(Ref raised, powers(n, p));
  ops::Builder& builder = p == 1 ? n.result() : n.step("sum");
  Ref sum = builder.reduce_sum(raised, std::move(axes));
  BUDA_ASSIGN(Ref result, root(n, sum, p));
  n.output(result);
  return success();
}

// ---- MaxUnpool

// Indices count elements of the result that kernel, strides and pads make. A larger output_shape adds zeros after it.
Result<void> import_max_unpool(NodeImport& n) {
  BUDA_ASSIGN(Shape x, n.shape(0));
  BUDA_ASSIGN(auto window, window_arguments(n, x));
  Dims shape{x[0], x[1]};
  for (std::size_t i = 0; i < window.rank(); ++i)
    shape.push_back((x[i + 2] - 1) * window.stride[i] + window.kernel[i] - window.padding[i] - window.padding[window.rank() + i]);
  Dims wanted = shape;
  if (n.has_input(2)) {
    BUDA_ASSIGN(wanted, n.known_integers(2, "output_shape"));
  }
  Dims more;
  bool larger = false, possible = wanted.size() == shape.size();
  for (std::size_t i = 0; possible && i < shape.size(); ++i) {
    more.push_back(wanted[i] - shape[i]);
    possible = more[i] >= 0;
    larger = larger || more[i] > 0;
  }
  if (!possible)
    return n.refuse(cat("its output_shape ", list_text(wanted), " does not hold the result, which is of shape ", list_text(shape)));
  Ref values = n.input(0), indices = n.input(1);
  ops::Builder& builder = larger ? n.step("unpool") : n.result();
  Ref result = builder.op("max_unpool", {values, indices}, {{"shape", shape}});
  if (larger) result = n.result().pad(result, Dims(shape.size(), 0), std::move(more));
  n.output(result);
  return success();
}

constexpr OpImporter kPoolingOps[] = {
    {"AveragePool", 1, import_average_pool},
    {"GlobalAveragePool", 1, import_global_pool, "reduce_avg"},
    {"GlobalLpPool", 2, import_global_lp_pool},
    {"GlobalMaxPool", 1, import_global_pool, "reduce_max"},
    {"LpPool", 2, import_lp_pool},
    {"MaxPool", 1, import_max_pool},
    {"MaxUnpool", 9, import_max_unpool},
};

}  // namespace

std::span<const OpImporter> pooling_ops() { return kPoolingOps; }

}  // namespace buda::onnx_frontend
