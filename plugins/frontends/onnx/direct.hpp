// SPDX-License-Identifier: Apache-2.0
// Operators that are ops of ours under another name: the same inputs, no attributes.
#pragma once

#include "node_import.hpp"

namespace buda::onnx_frontend {

// All inputs as they are.
Result<void> import_direct(NodeImport& node);
// Two inputs that broadcast; the second as old opsets place it.
Result<void> import_binary(NodeImport& node);

}  // namespace buda::onnx_frontend
