// Softmax, LogSoftmax and LayerNormalization.
#include "node_import.hpp"

namespace buda::onnx_frontend {
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

Result<void> import_layer_normalization(NodeImport& n) {
  BUDA_TRY(n.refuse_outputs_from(1, "serves training; only inference is read"));
  BUDA_ASSIGN(Shape shape, n.shape(0));
  BUDA_ASSIGN(auto axis, n.axis(n.integer("axis", -1), shape.rank()));
  std::vector<graph::Edge> inputs{n.input(0), n.input(1)};
  if (n.has_input(2)) inputs.emplace_back(n.input(2));
  n.output(n.result().op("layernorm", std::move(inputs), {{"dim", axis}, {"epsilon", n.real("epsilon", 1e-5)}}));
  return success();
}

constexpr OpImporter kOps[] = {
    {"LayerNormalization", 17, import_layer_normalization},
    {"LogSoftmax", 1, import_softmax, "log_softmax"},
    {"Softmax", 1, import_softmax, "softmax"},
};

}  // namespace

std::span<const OpImporter> normalization_ops() { return kOps; }

}  // namespace buda::onnx_frontend
