// SPDX-License-Identifier: Apache-2.0
// Einsum.
#include "node_import.hpp"

#include <buda/frontend/einsum.hpp>

namespace buda::onnx_frontend {
namespace {

Result<void> import_einsum(NodeImport& n) {
  std::vector<frontend::EinsumOperand> operands;
  for (std::size_t i = 0; i < n.input_count(); ++i) {
    BUDA_ASSIGN(Shape shape, n.shape(i));
    operands.push_back({n.input(i), std::move(shape)});
  }
  BUDA_ASSIGN(auto result, frontend::einsum(n, n.text("equation", ""), operands));
  n.output(result);
  return success();
}

constexpr OpImporter kEinsumOps[] = {{"Einsum", 12, import_einsum}};

}  // namespace

std::span<const OpImporter> einsum_ops() { return kEinsumOps; }

}  // namespace buda::onnx_frontend
