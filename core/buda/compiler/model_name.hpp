// SPDX-License-Identifier: Apache-2.0
// What a model is called.
#pragma once

#include <buda/io/file_system.hpp>

#include <string>

namespace buda::compiler {

// The name of a model after one of its files: "models/mlp.onnx", "mlp.device.graph.json", "mlp.yaml" and "mlp.tti" are all of "mlp". A
// model from standard input is "model"; one whose file has the format's own name in a folder is called after the folder:
// "kws/saved_model.pb" is of "kws".
std::string model_name(const std::string& path);

// The file of a model that is named by its folder, as SavedModels are ("kws": "kws/saved_model.pb"); any other path as it is.
std::string model_file(const std::string& path, io::FileSystem& fs);

}  // namespace buda::compiler
