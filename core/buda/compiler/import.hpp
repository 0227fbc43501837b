// SPDX-License-Identifier: Apache-2.0
// The importer: from a model file to a graph.
#pragma once

#include <buda/compiler/plugin_set.hpp>
#include <buda/diag/result.hpp>
#include <buda/graph/fwd.hpp>
#include <buda/io/host.hpp>
#include <buda/plugin/model_source.hpp>

#include <string>

namespace buda::compiler {

// Reads a model with the frontend of that name, or with the one that recognises it surest, and checks the graph: its types are inferred.
// IP001: no frontend recognises the model; IP002: several do alike; else the reasons of the frontend.
Result<graph::Graph> import_model(const plugin::ModelSource& model, const std::string& frontend, const plugin::ImportOptions& options,
                                  const PluginSet& plugins, Host& host);

}  // namespace buda::compiler
