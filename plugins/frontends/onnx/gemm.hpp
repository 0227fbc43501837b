// SPDX-License-Identifier: Apache-2.0
// The product of Gemm, which its fused form has, too.
#pragma once

#include "node_import.hpp"

#include <vector>

namespace buda::onnx_frontend {

// Operands and attributes of the operator gemm, without those that have their standard values, which exporters always write.
struct GemmCall {
  std::vector<graph::Edge> inputs;
  ops::AttrMap attrs;
};

// Refuses the node where a factor is not a matrix.
Result<GemmCall> gemm_call(NodeImport& n);

}  // namespace buda::onnx_frontend
