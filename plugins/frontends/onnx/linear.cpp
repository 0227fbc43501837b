// SPDX-License-Identifier: Apache-2.0
// Matrix products: MatMul and Gemm.
#include "gemm.hpp"

#include <buda/base/text.hpp>

namespace buda::onnx_frontend {
namespace {

Result<void> import_matmul(NodeImport& n) {
  auto a = n.input(0);
  auto b = n.input(1);
  n.output(n.result().matmul(a, b));
  return success();
}

// Gemm stays whole: that it is a product, a sum and two factors is the optimizer's business (its decomposition), which can then fold.
Result<void> import_gemm(NodeImport& n) {
  BUDA_ASSIGN(GemmCall call, gemm_call(n));
  n.output(n.result().op("gemm", std::move(call.inputs), std::move(call.attrs)));
  return success();
}

constexpr OpImporter kLinearOps[] = {
    {"Gemm", 1, import_gemm},
    {"MatMul", 1, import_matmul},
};

}  // namespace

Result<GemmCall> gemm_call(NodeImport& n) {
  for (std::size_t i : {0u, 1u}) {
    BUDA_ASSIGN(Shape shape, n.shape(i));
    if (shape.rank() != 2) return n.refuse(cat("input ", i, " has shape ", shape.text(), "; ", n.importer().op_type, " takes matrices"));
  }
  GemmCall out;
  if (n.real("alpha", 1) != 1) out.attrs["alpha"] = n.real("alpha", 1);
  if (n.real("beta", 1) != 1) out.attrs["beta"] = n.real("beta", 1);
  if (n.integer("transA", 0) != 0) out.attrs["trans_a"] = true;
  if (n.integer("transB", 0) != 0) out.attrs["trans_b"] = true;
  out.inputs = {n.input(0), n.input(1)};
  if (n.has_input(2)) out.inputs.emplace_back(n.input(2));
  return out;
}

std::span<const OpImporter> linear_ops() { return kLinearOps; }

}  // namespace buda::onnx_frontend
