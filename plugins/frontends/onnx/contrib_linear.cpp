// SPDX-License-Identifier: Apache-2.0
// onnxruntime's fused products and convolutions: FusedMatMul, FusedGemm, FusedConv.
#include "fused_activation.hpp"
#include "gemm.hpp"
#include "window.hpp"

#include <buda/base/text.hpp>

#include <algorithm>
#include <numeric>
#include <utility>

namespace buda::onnx_frontend {
namespace {

using Ref = NodeImport::Ref;
using Dims = NodeImport::Dims;

// The matrices of an input: with transBatch the first axis moves behind the axes of batches, and then trans exchanges the last two. Vectors
// stay as they are.
Result<Ref> factor(NodeImport& n, std::size_t i, std::string_view trans, std::string_view trans_batch, std::string_view step) {
  BUDA_ASSIGN(Shape shape, n.shape(i));
  Ref value = n.input(i);
  if (shape.rank() < 2) return value;
  Dims order(shape.rank());
  std::iota(order.begin(), order.end(), 0);
  if (n.integer(trans_batch, 0) != 0) std::rotate(order.begin(), order.begin() + 1, order.end() - 1);
  if (n.integer(trans, 0) != 0) std::swap(order[order.size() - 1], order[order.size() - 2]);
  return std::is_sorted(order.begin(), order.end()) ? value : n.step(step).transpose(value, order);
}

std::vector<double> activation_parameters(const NodeImport& n) {
  std::vector<double> out;
  for (const char* name : {"activation_alpha", "activation_beta", "activation_gamma"}) {
    if (!n.has(name)) break;
    out.push_back(n.real(name, 0));
  }
  return out;
}

Result<void> import_fused_matmul(NodeImport& n) {
  const double alpha = n.real("alpha", 1);
  BUDA_ASSIGN(auto type, n.type(0));
  BUDA_ASSIGN(Ref a, factor(n, 0, "transA", "transBatchA", "a"));
  BUDA_ASSIGN(Ref b, factor(n, 1, "transB", "transBatchB", "b"));
  Ref y = (alpha != 1 ? n.step("product") : n.result()).matmul(a, b);
  if (alpha != 1) {
    Ref scale = n.step("alpha").constant(alpha, type.dtype);
    y = n.result().multiply(y, scale);
  }
  n.output(y);
  return success();
}

Result<void> import_fused_gemm(NodeImport& n) {
  const std::string activation = n.text("activation", "");
  BUDA_ASSIGN(GemmCall call, gemm_call(n));
  Ref y = before_activation(n, activation).op("gemm", std::move(call.inputs), std::move(call.attrs));
  BUDA_ASSIGN(y, activated(n, y, activation, activation_parameters(n)));
  n.output(y);
  return success();
}

// Inputs: x, weights, bias, what is added before the activation.
Result<void> import_fused_conv(NodeImport& n) {
  const std::string activation = n.text("activation", "");
  BUDA_ASSIGN(Shape x, n.shape(0));
  BUDA_ASSIGN(Shape weights, n.shape(1));
  BUDA_ASSIGN(auto window, window_arguments(n, x, weights));
  ops::AttrMap attrs = window.attrs();
  if (n.integer("group", 1) != 1) attrs["groups"] = n.integer("group", 1);
  std::vector<graph::Edge> inputs{n.input(0), n.input(1)};
  if (n.has_input(2)) inputs.emplace_back(n.input(2));
  const bool summed = n.has_input(3);
  Ref y = (summed ? n.step("windows") : before_activation(n, activation))
              .op(cat("conv", window.rank(), "d"), std::move(inputs), std::move(attrs));
  if (summed) {
    Ref beside = n.input(3);
    y = before_activation(n, activation).add(y, beside);
  }
  const auto parameters = n.floats("activation_params");
  BUDA_ASSIGN(y, activated(n, y, activation, std::vector<double>(parameters.begin(), parameters.end())));
  n.output(y);
  return success();
}

constexpr OpImporter kContribLinearOps[] = {
    {"FusedConv", 1, import_fused_conv},
    {"FusedGemm", 1, import_fused_gemm},
    {"FusedMatMul", 1, import_fused_matmul},
    {"TransposeMatMul", 1, import_fused_matmul},
};

}  // namespace

std::span<const OpImporter> contrib_linear_ops() { return kContribLinearOps; }

}  // namespace buda::onnx_frontend
