// SPDX-License-Identifier: Apache-2.0
// From a checked ONNX model to a graph.
#pragma once

#include "model.hpp"

#include <buda/graph/graph.hpp>

#include <string>

namespace buda::onnx_frontend {

// Takes the model's initializers over. Every node that cannot be imported is reported, but not those that merely depend on it.
Result<graph::Graph> import_graph(Model& model, const std::string& name, Host& host);

}  // namespace buda::onnx_frontend
