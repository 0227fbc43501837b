// SPDX-License-Identifier: Apache-2.0
// Operators that onnxruntime has in its own domain as ONNX has them.
#pragma once

#include "node_import.hpp"

namespace buda::onnx_frontend {

Result<void> import_grid_sample(NodeImport& n);
Result<void> import_range(NodeImport& n);
Result<void> import_trilu(NodeImport& n);

}  // namespace buda::onnx_frontend
