// SPDX-License-Identifier: Apache-2.0
// From a checked model to a graph.
#pragma once

#include "model.hpp"
#include "node_import.hpp"

#include <buda/graph/graph.hpp>
#include <buda/io/host.hpp>

#include <string>

namespace buda::tflite_frontend {

// Every operator that cannot be imported is reported, but not those that merely depend on it.
Result<graph::Graph> import_graph(const Model& model, const std::string& name, const ImportChoices& choices, Host& host);

}  // namespace buda::tflite_frontend
