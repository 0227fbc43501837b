// SPDX-License-Identifier: Apache-2.0
// Activations inside of onnxruntime's fused operators.
#pragma once

#include "node_import.hpp"

#include <vector>

namespace buda::onnx_frontend {

// The activation of this name on a value, as the node's result; the value itself where the name is empty. Parameters that are left out have
// the standard values of the operator of this name.
Result<graph::ValueRef> activated(NodeImport& n, graph::ValueRef value, const std::string& activation,
                                  const std::vector<double>& parameters);
// The builder for what an activation follows: it gives the node's name where there is none.
ops::Builder& before_activation(NodeImport& n, const std::string& activation);

}  // namespace buda::onnx_frontend
