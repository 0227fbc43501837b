// SPDX-License-Identifier: Apache-2.0
// onnxruntime's fused elementwise operators: sums with bias, kinds of GELU; and what it has beside ONNX under the same names.
#include "node_import.hpp"
#include "shared_importers.hpp"

#include <buda/base/text.hpp>

namespace buda::onnx_frontend {
namespace {

using Ref = NodeImport::Ref;

Result<void> import_gelu(NodeImport& n) {
  n.output(n.result().gelu(n.input(0)));
  return success();
}

Result<void> import_bias_gelu(NodeImport& n) {
  Ref x = n.input(0), bias = n.input(1);
  Ref sum = n.step("sum").add(x, bias);
  n.output(n.result().gelu(sum));
  return success();
}

Result<void> import_fast_gelu(NodeImport& n) {
  Ref x = n.input(0);
  if (n.has_input(1)) {
    Ref bias = n.input(1);
    x = n.step("sum").add(x, bias);
  }
  n.output(n.result().gelu(x, "tanh"));
  return success();
}

// x times the sigmoid of alpha x.
Result<void> import_quick_gelu(NodeImport& n) {
  BUDA_ASSIGN(auto type, n.type(0));
  const double alpha = n.real("alpha", 1.702);
  Ref x = n.input(0), scaled = x;
  if (alpha != 1) {
    Ref factor = n.step("alpha").constant(alpha, type.dtype);
    scaled = n.step("scaled").multiply(x, factor);
  }
  Ref gate = n.step("gate").sigmoid(scaled);
  n.output(n.result().multiply(x, gate));
  return success();
}

Result<void> import_bias_add(NodeImport& n) {
  Ref x = n.input(0), bias = n.input(1), skip = n.input(2);
  Ref sum = n.step("sum").add(x, bias);
  n.output(n.result().add(sum, skip));
  return success();
}

// One half of the last axis times the GELU of the other.
Result<void> import_bias_split_gelu(NodeImport& n) {
  BUDA_ASSIGN(Shape shape, n.shape(0));
  const std::int64_t width = shape.rank() == 0 ? 0 : shape[shape.rank() - 1];
  if (width % 2 != 0 || width == 0) return n.refuse(cat("its input is ", shape.text(), ", whose last axis has no halves"));
  Ref x = n.input(0), bias = n.input(1);
  Ref sum = n.step("sum").add(x, bias);
  Ref value = n.step("value").slice(sum, -1, 0, width / 2), gate = n.step("gate").slice(sum, -1, width / 2, width);
  Ref active = n.step("active").gelu(gate);
  n.output(n.result().multiply(value, active));
  return success();
}

Result<void> import_gemm_fast_gelu(NodeImport& n) {
  Ref x = n.input(0), weights = n.input(1);
  Ref y = n.step("product").matmul(x, weights);
  if (n.has_input(2)) {
    Ref bias = n.input(2);
    y = n.step("sum").add(y, bias);
  }
  n.output(n.result().gelu(y, "tanh"));
  return success();
}

Result<void> import_expand_dims(NodeImport& n) {
  BUDA_ASSIGN(Shape shape, n.shape(0));
  BUDA_ASSIGN(auto given, n.known_integers(1, "axis"));
  if (given.size() != 1) return n.refuse(cat("its axis is ", list_text(given), "; one number is needed"));
  BUDA_ASSIGN(auto axis, n.axis(given[0], shape.rank() + 1));
  n.output(n.result().unsqueeze(n.input(0), {axis}));
  return success();
}

constexpr OpImporter kContribElementwiseOps[] = {
    {"ExpandDims", 1, import_expand_dims},
    {"GemmFastGelu", 1, import_gemm_fast_gelu},
    {"GridSample", 1, import_grid_sample},
    {"Range", 1, import_range},
    {"Trilu", 1, import_trilu},
    {"BiasAdd", 1, import_bias_add},
    {"BiasGelu", 1, import_bias_gelu},
    {"BiasSplitGelu", 1, import_bias_split_gelu},
    {"FastGelu", 1, import_fast_gelu},
    {"Gelu", 1, import_gelu},
    {"QuickGelu", 1, import_quick_gelu},
};

}  // namespace

std::span<const OpImporter> contrib_elementwise_ops() { return kContribElementwiseOps; }

}  // namespace buda::onnx_frontend
