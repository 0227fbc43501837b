// What a model is called.
#pragma once

#include <string>

namespace buda::compiler {

// The name of a model after one of its files: "models/mlp.onnx", "mlp.device.graph.json", "mlp.yaml" and "mlp.tti" are all of "mlp". A
// model from standard input is "model".
std::string model_name(const std::string& path);

}  // namespace buda::compiler
