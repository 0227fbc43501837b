// SPDX-License-Identifier: Apache-2.0
// Softmax, LogSoftmax and LayerNormalization.
#include "root_mean_square.hpp"

namespace buda::onnx_frontend {

using Ref = graph::ValueRef;

RootMeanSquare root_mean_square(NodeImport& n, Ref x, Ref scale, const graph::ValueType& type, std::int64_t axis, double epsilon) {
  NodeImport::Dims axes;
  for (auto i = axis; i < static_cast<std::int64_t>(type.shape.rank()); ++i) axes.push_back(i);
  RootMeanSquare out;
  Ref squares = n.step("squares").square(x);
  Ref mean = n.step("mean_square").reduce_avg(squares, axes);
  Ref least = n.step("epsilon").constant(epsilon, type.dtype);
  Ref sum = n.step("mean_square.plus").add(mean, least);
  Ref root = n.step("root").sqrt(sum);
  out.inverse = n.step("inverse_root").reciprocal(root);
  Ref normal = n.step("normal").multiply(x, out.inverse);
  out.normalized = n.result().multiply(normal, scale);
  return out;
}

namespace {

graph::ValueRef normalized(ops::Builder& builder, std::string_view op, graph::ValueRef x, std::int64_t dim) {
  return op == "softmax" ? builder.softmax(x, dim) : builder.log_softmax(x, dim);
}

// From opset 13 on over one axis. Before that over all axes from `axis` on together: the tensor counts as a matrix whose rows are the axes
// before it. Where those axes but one have size 1, both are the same.
Result<void> import_softmax(NodeImport& n) {
  BUDA_ASSIGN(Shape shape, n.shape(0));
  bool one_axis = n.opset() >= 13;
  BUDA_ASSIGN(auto axis, n.axis(n.integer("axis", one_axis ? -1 : 1), shape.rank()));
  BUDA_ASSIGN(Shape matrix, n.as_matrix(shape, axis));
  std::int64_t dim = axis;
  if (!one_axis) {
    for (std::size_t i = static_cast<std::size_t>(axis); i < shape.rank(); ++i)
      if (shape[i] != 1) dim = static_cast<std::int64_t>(i);
    one_axis = shape[static_cast<std::size_t>(dim)] == matrix[1];
  }
  auto x = n.input(0);
  if (one_axis) {
    n.output(normalized(n.result(), n.importer().op, x, dim));
    return success();
  }
  auto flat = n.step("flatten").reshape(x, matrix);
  auto y = normalized(n.step("rows"), n.importer().op, flat, 1);
  n.output(n.result().reshape(y, shape));
  return success();
}

// Mean and 1 / standard deviation along the normalised axes, in fp32 (stash_type, of which ONNX defines no other).
void output_statistics(NodeImport& n, DType dtype, std::int64_t axis, std::int64_t rank) {
  NodeImport::Dims axes;
  for (auto i = axis; i < rank; ++i) axes.push_back(i);
  auto x = n.input(0);
  if (dtype != DType::f32) x = n.cast(x, DType::f32, "statistics.x");
  auto mean = n.step("mean").reduce_avg(x, axes);
  n.output(mean, 1);
  if (!n.has_output(2)) return;
  auto centered = n.step("centered").subtract(x, mean);
  auto squares = n.step("squares").square(centered);
  auto variance = n.step("variance").reduce_avg(squares, axes);
  auto epsilon = n.step("epsilon").constant(static_cast<float>(n.real("epsilon", 1e-5)));
  auto sum = n.step("variance.plus").add(variance, epsilon);
  auto deviation = n.step("deviation").sqrt(sum);
  n.output(n.step("inverse_deviation").reciprocal(deviation), 2);
}

Result<void> import_layer_normalization(NodeImport& n) {
  BUDA_ASSIGN(auto type, n.type(0));
  BUDA_ASSIGN(auto axis, n.axis(n.integer("axis", -1), type.shape.rank()));
  std::vector<graph::Edge> inputs{n.input(0), n.input(1)};
  if (n.has_input(2)) inputs.emplace_back(n.input(2));
  n.output(n.result().op("layernorm", std::move(inputs), {{"dim", axis}, {"epsilon", n.real("epsilon", 1e-5)}}));
  if (n.has_output(1) || n.has_output(2)) output_statistics(n, type.dtype, axis, static_cast<std::int64_t>(type.shape.rank()));
  return success();
}

// onnxruntime's SimplifiedLayerNormalization, which ONNX has as RMSNormalization from opset 23 on.
Result<void> import_simplified(NodeImport& n) {
  BUDA_ASSIGN(auto type, n.type(0));
  BUDA_ASSIGN(auto axis, n.axis(n.integer("axis", -1), type.shape.rank()));
  Ref x = n.input(0), scale = n.input(1);
  RootMeanSquare made = root_mean_square(n, x, scale, type, axis, n.real("epsilon", 1e-5));
  n.output(made.normalized);
  n.output(made.inverse, 1);
  return success();
}

constexpr OpImporter kNormalizationOps[] = {
    {"LayerNormalization", 1, import_layer_normalization},
    {"LogSoftmax", 1, import_softmax, "log_softmax"},
    {"RMSNormalization", 23, import_simplified},
    {"SimplifiedLayerNormalization", 1, import_simplified},
    {"Softmax", 1, import_softmax, "softmax"},
};

}  // namespace

std::span<const OpImporter> normalization_ops() { return kNormalizationOps; }

}  // namespace buda::onnx_frontend
