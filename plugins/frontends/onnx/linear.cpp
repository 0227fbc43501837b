// Matrix products: MatMul and Gemm.
#include "node_import.hpp"

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
  for (std::size_t i : {0u, 1u}) {
    BUDA_ASSIGN(Shape shape, n.shape(i));
    if (shape.rank() != 2) return n.refuse(cat("input ", i, " has shape ", shape.text(), "; Gemm takes matrices"));
  }
  ops::AttrMap attrs;  // without those that have their standard values, which exporters always write
  if (n.real("alpha", 1) != 1) attrs["alpha"] = n.real("alpha", 1);
  if (n.real("beta", 1) != 1) attrs["beta"] = n.real("beta", 1);
  if (n.integer("transA", 0) != 0) attrs["trans_a"] = true;
  if (n.integer("transB", 0) != 0) attrs["trans_b"] = true;
  std::vector<graph::Edge> inputs{n.input(0), n.input(1)};
  if (n.has_input(2)) inputs.emplace_back(n.input(2));
  n.output(n.result().op("gemm", std::move(inputs), std::move(attrs)));
  return success();
}

constexpr OpImporter kLinearOps[] = {
    {"Gemm", 1, import_gemm},
    {"MatMul", 1, import_matmul},
};

}  // namespace

std::span<const OpImporter> linear_ops() { return kLinearOps; }

}  // namespace buda::onnx_frontend
