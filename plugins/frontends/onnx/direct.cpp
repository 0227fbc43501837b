// SPDX-License-Identifier: Apache-2.0
// Operators that are ops of ours under another name.
#include "direct.hpp"

namespace buda::onnx_frontend {

Result<void> import_direct(NodeImport& n) {
  std::vector<graph::Edge> inputs;
  for (std::size_t i = 0; i < n.input_count(); ++i) inputs.emplace_back(n.input(i));
  n.output(n.result().op(n.importer().op, std::move(inputs)));
  return success();
}

Result<void> import_binary(NodeImport& n) {
  auto a = n.input(0);
  BUDA_ASSIGN(auto b, n.second_operand());
  n.output(n.result().op(n.importer().op, {a, b}));
  return success();
}

}  // namespace buda::onnx_frontend
