// SPDX-License-Identifier: Apache-2.0
// What a graph is called after the file that it comes from.
#pragma once

#include <string>

#pragma GCC visibility push(default)

namespace buda::frontend {

// "models/mlp.onnx" gives "mlp", and standard input "model".
std::string model_name(const std::string& path);

}  // namespace buda::frontend

#pragma GCC visibility pop
